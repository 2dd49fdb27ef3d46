import { type Chunk, noticeItem, type ToolCallBlock, type ToolCallItem, toolCallItem, toolResultItem } from "#domain";
import { type DataFrame, isRecord, type JsonRecord, ownArray, ownString, ownValue, rawOf } from "#wire";

/** Which calls were made and which were answered, so that every call is told once and answered at most once. */
export interface OpenToolCalls {
  /** Takes note of a call and gives the item that tells it; `undefined` when it is known already. */
  call(block: ToolCallBlock, more: Called): ToolCallItem | undefined;
  /** A rule denied the call: its answer, an error, says that it was not run. False when there is no such call. */
  deny(callId: string): boolean;
  /** Whether a `tool_result` block answers an open call. */
  answers(result: JsonRecord): boolean;
  /** Tells an answer. One to no call, or a second one, is kept as a notice. */
  answer(result: JsonRecord, frame: DataFrame, more: Answered, out: Chunk[]): void;
  /** A turn is over: its answered calls are forgotten. A model may give a call of a later turn the same id. */
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

/** So many calls are remembered. An answer that comes after so many further calls finds none. */
const REMEMBERED = 10_000;

/** Creates the ledger of one stream. */
export function createToolLedger(): OpenToolCalls {
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
          ...(ms !== undefined && { ms }),
          ...(parent !== undefined && { parent }),
        }),
      );
    },
  };
}

/** Text stays text, a list of texts becomes one text, and what holds more than text is kept as it came. */
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
