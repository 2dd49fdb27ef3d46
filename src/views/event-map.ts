import type { AgentEvent, Block } from "#domain";
import type { VendorUsage } from "./vendor-words.ts";

/**
 * One event of the streaming-session vocabulary: plain maps with the names of the Messages API.
 *
 * `accumulated` is the text of the current message so far. It starts empty with each message and each run.
 */
export type EventMap =
  | MessageStartMap
  | { readonly type: "text_block_start" }
  | { readonly type: "tool_use_start"; readonly name: string; readonly id: string }
  | { readonly type: "thinking_start" }
  | { readonly type: "text_delta"; readonly text: string; readonly accumulated: string }
  | { readonly type: "tool_input_delta"; readonly json: string }
  | { readonly type: "thinking_delta"; readonly thinking: string }
  | { readonly type: "content_block_stop"; readonly final_text: string }
  | { readonly type: "message_delta"; readonly stop_reason: string | null; readonly stop_sequence: string | null }
  | { readonly type: "message_stop"; readonly final_text: string }
  | ToolCompleteMap
  | ErrorMap
  | { readonly type: "message"; readonly message: AgentEvent; readonly accumulated: string }
  | RetractMap;

/** A message begins. */
export interface MessageStartMap {
  readonly type: "message_start";
  readonly model: string | null;
  readonly role: "assistant";
  /** Empty while it is unknown. */
  readonly usage: VendorUsage;
}

/** A tool has returned. */
export interface ToolCompleteMap {
  readonly type: "tool_complete";
  readonly tool_name: string;
  readonly result: unknown;
  /** Present only if the tool failed. */
  readonly is_error?: true;
  readonly accumulated: string;
}

/** Something failed. If it ended the run, this is the last map. */
export interface ErrorMap {
  readonly type: "error";
  /** The code; `timeout` also for a stream that stalled. */
  readonly error: string;
  readonly message: string;
  readonly accumulated: string;
}

/**
 * Our addition, because the vocabulary has nothing for void text: everything shown of the message from block
 * `from_index` on (0: the whole message) is void. `text` is what must be discarded, `accumulated` what remains.
 */
export interface RetractMap {
  readonly type: "retract";
  readonly message_id: string;
  readonly from_index: number;
  readonly text: string;
  readonly accumulated: string;
}

/** The output of `toEvents` for our own items in a mixed stream. */
export type NormalisedMap =
  | { readonly type: "tool_result"; readonly tool_name: string; readonly result: unknown; readonly timestamp: number }
  | { readonly type: "message"; readonly content: readonly Block[]; readonly timestamp: number }
  | { readonly type: "unknown"; readonly data: unknown };

/** A map of any origin: a `type` and its fields. */
export interface AnyMap {
  readonly type: string;
}
