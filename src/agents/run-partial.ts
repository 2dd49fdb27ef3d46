import type { AgentEvent } from "#domain";
import { failureOf } from "./run-text.ts";
import { OUTPUT_TOOL_NAME } from "./structured.ts";
import { createPartialReader, type PartialReader } from "./structured-partial.ts";

/** The answer of a run while it is being written, as values. `isWrapped`: it stands in the field `value`. */
export async function* readPartials(
  events: AsyncIterable<AgentEvent>,
  isWrapped: boolean,
): AsyncGenerator<unknown, undefined> {
  const reader = await createPartialReader({ isWrapped });
  let written = "";
  for await (const event of events) {
    const source = sourceOf(event);
    if (source !== undefined) {
      // Another message, or another call: an answer is being given anew.
      if (source.id !== written) reader.reset();
      written = source.id;
      const look = reader.push(source.piece);
      if (look !== undefined) yield look.value;
    }
    if (event.type !== "done") continue;
    const failure = failureOf(event.result);
    if (failure !== undefined) throw failure;
    yield last(event.result.structured, reader);
  }
  return undefined;
}

/** The last step is the value itself, so that who follows the steps ends with the truth. */
function last(structured: unknown, reader: PartialReader): unknown {
  return structured === undefined ? reader.read() : structured;
}

function sourceOf(event: AgentEvent): { readonly id: string; readonly piece: string } | undefined {
  if (event.parent !== undefined) return undefined;
  if (event.type === "text-delta") return { id: event.messageId, piece: event.text };
  if (event.type === "tool-input-delta" && event.name === OUTPUT_TOOL_NAME)
    return { id: event.callId, piece: event.json };
  return undefined;
}
