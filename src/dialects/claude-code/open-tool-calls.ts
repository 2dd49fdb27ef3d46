import {
  type ChunkOf,
  type Chunk,
  noticeItem,
  present,
  type ToolCallBlock,
  type ToolCallItem,
  toolCallItem,
  toolResultItem,
} from "#domain";
import { type DataFrame, isRecord, type JsonRecord, ownArray, ownString, ownValue, rawOf } from "#wire";

/** Tracks calls and answers, so that every call is reported once and answered at most once. */
export interface OpenToolCalls {
  /** Records a call and returns its item; `undefined` if the call is known already. */
  call(block: ToolCallBlock, more: Called): ChunkOf<ToolCallItem> | undefined;
  /** A rule denied the call: its answer, an error, reports that it was not run. False if there is no such call. */
  deny(callId: string): boolean;
  /** Whether a `tool_result` block answers an open call. */
  answers(result: JsonRecord): boolean;
  /** Emits an answer. An answer to an unknown call, or a second one, is kept as a notice. */
  answer(result: JsonRecord, frame: DataFrame, more: Answered, out: Chunk[]): void;
  /** A turn is over: forgets its answered calls. A model may reuse a call id in a later turn. */
  endTurn(): void;
}

interface Called {
  readonly parent: string | undefined;
  readonly executedBy: "millrace" | "backend";
}

interface Answered {
  readonly parent: string | undefined;
  readonly ms: number | undefined;
}

/** The number of calls that are remembered. An answer that arrives after this many further calls matches none. */
const REMEMBERED = 10_000;

export function createOpenToolCalls(): OpenToolCalls {
  const calls = new Map<string, { readonly name: string; isAnswered: boolean; isDenied: boolean }>();

  const openCall = (result: JsonRecord) => {
    const call = calls.get(ownString(result, "tool_use_id") ?? "");
    return call === undefined || call.isAnswered ? undefined : call;
  };

  return {
    call({ callId, name, input }, { parent, executedBy }) {
      if (calls.has(callId)) return undefined;
      calls.set(callId, { name, isAnswered: false, isDenied: false });
      const [oldest] = calls.keys();
      if (calls.size > REMEMBERED && oldest !== undefined) calls.delete(oldest);
      return toolCallItem({ callId, name, input, executedBy, ...(parent !== undefined && { parent }) });
    },
    deny(callId) {
      const call = calls.get(callId);
      if (call !== undefined) call.isDenied = true;
      return call !== undefined;
    },
    endTurn() {
      for (const [callId, { isAnswered }] of calls) if (isAnswered) calls.delete(callId);
    },
    answers: (result) => openCall(result) !== undefined,
    answer(result, frame, { parent, ms }, out) {
      const call = openCall(result);
      if (call === undefined) {
        out.push(noticeItem("orphan-tool-result", result, { raw: rawOf(frame) }));
        return;
      }
      call.isAnswered = true;
      out.push(
        toolResultItem({
          callId: ownString(result, "tool_use_id") ?? "",
          name: call.name,
          output: readOutput(result),
          isError: result.is_error === true,
          ...(call.isDenied && result.is_error === true && { skipped: "denied" }),
          ...present({ ms, parent }),
        }),
      );
    },
  };
}

/** Text stays text, a list of texts becomes one text, and content with more than text is kept as it is. */
function readOutput(result: JsonRecord): unknown {
  const content = ownArray(result, "content");
  if (content === undefined) return ownValue(result, "content") ?? "";
  const texts: string[] = [];
  for (const block of content) {
    const text = isRecord(block) && block.type === "text" ? ownString(block, "text") : undefined;
    if (text === undefined) return content;
    texts.push(text);
  }
  return texts.join("\n");
}
