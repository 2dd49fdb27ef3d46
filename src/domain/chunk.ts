import type { Block } from "./block.ts";
import type { ErrorDetail } from "./error-detail.ts";
import type {
  AgentEvent,
  DoneEvent,
  ErrorItem,
  HandoffItem,
  MessageItem,
  Mode,
  NoticeItem,
  PermissionItem,
  ResultItem,
  Retraction,
  Skipped,
  StartItem,
  TextDelta,
  ThinkingDelta,
  ToolCallItem,
  ToolInputDelta,
  ToolResultItem,
  WarningItem,
} from "./event.ts";
import type { Raw } from "./raw.ts";
import type { WarningDetail } from "./warning.ts";

/**
 * One decoded piece of a stream, on its way to becoming an event: the same object, not numbered yet.
 *
 * Formats make chunks; a run numbers them when it accepts them (`numberEvent`), and from then on they are events
 * and never change. Built once in their final shape, because a copy per delta costs as much as parsing it.
 */
export type Chunk = Exclude<AgentEvent, DoneEvent>;

/** The `seq` of a chunk nobody has numbered. */
export const UNNUMBERED = -1;

/**
 * The `ts` of such a chunk. No whole number on purpose: times do not fit V8's small integers, and a field that begins
 * as one changes its layout with the first real time, which throws away code that was just optimised.
 */
const UNTIMED = Number.MIN_VALUE;

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** The fields of an event that its maker gives; the envelope's numbers come from the run. */
type Given<Event extends AgentEvent> = Omit<Event, "type" | "seq" | "firstSeq" | "ts" | "runId">;

/** Gives a chunk its place in a run and makes it an event. Done once per chunk, by the run that accepts it. */
export function numberEvent<Event extends AgentEvent>(chunk: Event, seq: number, place: Place): Event {
  const event = chunk as Writable<Event>;
  event.seq = seq;
  event.ts = place.ts;
  event.runId = place.runId;
  if (place.agent !== undefined && event.agent === undefined) event.agent = place.agent;
  return chunk;
}

/** What the events of one batch have in common. */
export interface Place {
  readonly ts: number;
  readonly runId: string;
  readonly agent?: string | undefined;
}

// The three deltas are written out, not spread: they are the hot path, and one literal gives one hidden class.

export function textDelta(messageId: string, index: number, text: string, parent?: string): TextDelta {
  if (parent !== undefined) {
    return { type: "text-delta", seq: UNNUMBERED, ts: UNTIMED, runId: "", messageId, index, text, parent };
  }
  return { type: "text-delta", seq: UNNUMBERED, ts: UNTIMED, runId: "", messageId, index, text };
}

export function thinkingDelta(messageId: string, index: number, text: string, parent?: string): ThinkingDelta {
  if (parent !== undefined) {
    return { type: "thinking-delta", seq: UNNUMBERED, ts: UNTIMED, runId: "", messageId, index, text, parent };
  }
  return { type: "thinking-delta", seq: UNNUMBERED, ts: UNTIMED, runId: "", messageId, index, text };
}

export function toolInputDelta(
  messageId: string,
  index: number,
  call: { readonly callId: string; readonly name: string },
  json: string,
): ToolInputDelta {
  return {
    type: "tool-input-delta",
    seq: UNNUMBERED,
    ts: UNTIMED,
    runId: "",
    messageId,
    index,
    callId: call.callId,
    name: call.name,
    json,
  };
}

export function startItem(given: Given<StartItem> & { readonly backend: string; readonly mode: Mode }): StartItem {
  return { type: "start", seq: UNNUMBERED, ts: UNTIMED, runId: "", ...given };
}

export function messageItem(given: Given<MessageItem> & { readonly blocks: readonly Block[] }): MessageItem {
  return { type: "message", seq: UNNUMBERED, ts: UNTIMED, runId: "", ...given };
}

export function toolCallItem(given: Given<ToolCallItem>): ToolCallItem {
  return { type: "tool-call", seq: UNNUMBERED, ts: UNTIMED, runId: "", ...given };
}

export function toolResultItem(given: Given<ToolResultItem> & { readonly skipped?: Skipped }): ToolResultItem {
  return { type: "tool-result", seq: UNNUMBERED, ts: UNTIMED, runId: "", ...given };
}

export function handoffItem(given: Given<HandoffItem>): HandoffItem {
  return { type: "handoff", seq: UNNUMBERED, ts: UNTIMED, runId: "", ...given };
}

export function permissionItem(given: Given<PermissionItem>): PermissionItem {
  return { type: "permission", seq: UNNUMBERED, ts: UNTIMED, runId: "", ...given };
}

export function noticeItem(kind: string, data: unknown, more: { parent?: string; raw?: Raw } = {}): NoticeItem {
  return { type: "notice", seq: UNNUMBERED, ts: UNTIMED, runId: "", kind, data, ...more };
}

/** Says that the deltas of a message are void, from a block on or all of them. */
export function retractNotice(retraction: Retraction): NoticeItem {
  return noticeItem("retract", retraction);
}

export function warningItem(warning: WarningDetail): WarningItem {
  return { type: "warning", seq: UNNUMBERED, ts: UNTIMED, runId: "", ...warning };
}

export function errorItem(error: ErrorDetail, more: { raw?: Raw } = {}): ErrorItem {
  return { type: "error", seq: UNNUMBERED, ts: UNTIMED, runId: "", ...error, ...more };
}

export function resultItem(given: Given<ResultItem>): ResultItem {
  return { type: "result", seq: UNNUMBERED, ts: UNTIMED, runId: "", ...given };
}

export function doneEvent(result: DoneEvent["result"]): DoneEvent {
  return { type: "done", seq: UNNUMBERED, ts: UNTIMED, runId: "", result };
}
