import type { AgentEvent } from "#domain";
import { failureOf } from "./text.ts";
import { createPartialReader, type PartialReader } from "./partial-json.ts";

/**
 * The tool that a model is offered for its answer when the vendor has no native structured output. Calling it ends the
 * leg.
 */
export const OUTPUT_TOOL_NAME = "final_answer";

/** Yields the answer of a run as values while it is being written. `isWrapped`: the answer is in the field `value`. */
export async function* readPartials(
  events: AsyncIterable<AgentEvent>,
  isWrapped: boolean,
): AsyncGenerator<unknown, undefined> {
  const reader = await createPartialReader({ isWrapped });
  let written = "";
  for await (const event of events) {
    const source = sourceOf(event);
    if (source !== undefined) {
      // Another message or another call: the answer starts over.
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

/** The last value yielded is the final one, so that a reader who shows every step ends with the correct value. */
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
