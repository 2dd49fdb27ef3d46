import type { Block } from "./block.ts";
import type { ErrorDetail } from "./error-detail.ts";
import type {
  AgentEvent,
  DeltaEvent,
  DoneEvent,
  ErrorItem,
  EventOf,
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

/** The fields of an event that its run gives it. */
type NumberedFields = "seq" | "firstSeq" | "ts" | "runId" | "agent";

/** What becomes an event of that type: the same fields without the number, the time, the run and the agent. */
export type ChunkOf<Event extends AgentEvent> = Event extends AgentEvent ? Omit<Event, NumberedFields> : never;

/**
 * One decoded piece of a stream: an event without its place in a run. Formats and backends make chunks; the run that
 * accepts one makes an event of it (`numberEvent`). A chunk never changes: what corrects one gives another.
 *
 * @example
 * const chunks: Chunk[] = [textDelta("message-1", 0, "Hel"), textDelta("message-1", 0, "lo")]
 */
export type Chunk = ChunkOf<Exclude<AgentEvent, DoneEvent>>;

/** The end of a run before it is an event: only the run itself makes one. */
export type DoneChunk = ChunkOf<DoneEvent>;

/** A delta before it is an event. */
export type DeltaChunk = ChunkOf<DeltaEvent>;

/** What the events of one batch have in common. */
export interface BatchEnvelope {
  readonly ts: number;
  readonly runId: string;
  readonly agent?: string | undefined;
}

/** What the maker of a chunk gives. */
type Given<Event extends AgentEvent> = Omit<ChunkOf<Event>, "type">;

/** An event while it is being built. */
type Writable<Event> = Event extends AgentEvent ? { -readonly [Key in keyof Event]: Event[Key] } : never;

/** Makes the event a chunk stands for. Done once per chunk, by the run that accepts it. */
export function numberEvent<Given extends Chunk | DoneChunk>(
  chunk: Given,
  seq: number,
  envelope: BatchEnvelope,
): EventOf<Given["type"]>;
export function numberEvent(chunk: Chunk | DoneChunk, seq: number, envelope: BatchEnvelope): AgentEvent {
  const event = buildEvent(chunk, seq, envelope);
  if (envelope.agent !== undefined) event.agent = envelope.agent;
  return event;
}

// Deltas are written out, not spread: there are far more of them than of anything else.
function buildEvent(chunk: Chunk | DoneChunk, seq: number, { ts, runId }: BatchEnvelope): Writable<AgentEvent> {
  if (chunk.type === "text-delta" || chunk.type === "thinking-delta") {
    const { type, messageId, index, text } = chunk;
    return withOrigin({ type, seq, ts, runId, messageId, index, text }, chunk);
  }
  if (chunk.type === "tool-input-delta") {
    const { type, messageId, index, callId, name, json } = chunk;
    return withOrigin({ type, seq, ts, runId, messageId, index, callId, name, json }, chunk);
  }
  const envelope = { type: chunk.type, seq, ts, runId };
  // The numbers come first for people who read the JSON, and again last: a chunk may be an event of another run.
  return { ...envelope, ...chunk, seq, ts, runId };
}

function withOrigin(event: Writable<DeltaEvent>, { parent, raw }: DeltaChunk): Writable<DeltaEvent> {
  if (parent !== undefined) event.parent = parent;
  if (raw !== undefined) event.raw = raw;
  return event;
}

/**
 * A piece of text of a message. `index` is the place of its block among the blocks of the message; `parent` is the call of the sub-agent that writes it.
 *
 * @example
 * const pieces = [textDelta("m1", 0, "Hel"), textDelta("m1", 0, "lo")]
 */
export function textDelta(messageId: string, index: number, text: string, parent?: string): ChunkOf<TextDelta> {
  if (parent !== undefined) {
    return { type: "text-delta", messageId, index, text, parent };
  }
  return { type: "text-delta", messageId, index, text };
}

/**
 * A piece of the thinking of a message.
 *
 * @example
 * const piece = thinkingDelta("m1", 0, "The user wants a sum.")
 */
export function thinkingDelta(messageId: string, index: number, text: string, parent?: string): ChunkOf<ThinkingDelta> {
  if (parent !== undefined) {
    return { type: "thinking-delta", messageId, index, text, parent };
  }
  return { type: "thinking-delta", messageId, index, text };
}

/**
 * A piece of the arguments of a tool call, as JSON text.
 *
 * @example
 * const piece = toolInputDelta("m1", 1, { callId: "c1", name: "add" }, '{"a":25')
 */
export function toolInputDelta(
  messageId: string,
  index: number,
  call: { readonly callId: string; readonly name: string },
  json: string,
): ChunkOf<ToolInputDelta> {
  return {
    type: "tool-input-delta",
    messageId,
    index,
    callId: call.callId,
    name: call.name,
    json,
  };
}

/**
 * A backend is at work.
 *
 * @example
 * const start = startItem({ backend: "clerk", mode: "control" })
 */
export function startItem(
  given: Given<StartItem> & { readonly backend: string; readonly mode: Mode },
): ChunkOf<StartItem> {
  return { type: "start", ...given };
}

/**
 * A finished message, with everything its deltas have shown.
 *
 * @example
 * const message = messageItem({ id: "m1", role: "assistant", blocks: [{ type: "text", text: "Hello" }], stopReason: "end-turn" })
 */
export function messageItem(given: Given<MessageItem> & { readonly blocks: readonly Block[] }): ChunkOf<MessageItem> {
  return { type: "message", ...given };
}

/**
 * A tool call of a model or an agent. It follows the message that holds it.
 *
 * @example
 * const call = toolCallItem({ callId: "c1", name: "add", input: { a: 25, b: 17 }, executedBy: "millrace" })
 */
export function toolCallItem(given: Given<ToolCallItem>): ChunkOf<ToolCallItem> {
  return { type: "tool-call", ...given };
}

/**
 * The answer to one tool call.
 *
 * @example
 * const answer = toolResultItem({ callId: "c1", name: "add", output: 42, isError: false })
 */
export function toolResultItem(given: Given<ToolResultItem> & { readonly skipped?: Skipped }): ChunkOf<ToolResultItem> {
  return { type: "tool-result", ...given };
}

/** Another agent goes on. */
export function handoffItem(given: Given<HandoffItem>): ChunkOf<HandoffItem> {
  return { type: "handoff", ...given };
}

/**
 * One step of the decision about a tool call.
 *
 * @example
 * const step = permissionItem({ callId: "c1", name: "add", state: "allowed", by: "rule" })
 */
export function permissionItem(given: Given<PermissionItem>): ChunkOf<PermissionItem> {
  return { type: "permission", ...given };
}

/**
 * Something that a reader may want to know. Kinds are open.
 *
 * @example
 * const notice = noticeItem("status", { status: "compacting" })
 */
export function noticeItem(
  kind: string,
  data: unknown,
  more: { parent?: string; raw?: Raw } = {},
): ChunkOf<NoticeItem> {
  return { type: "notice", kind, data, ...more };
}

/**
 * Says that the deltas of a message are void, from a block on or all of them.
 *
 * @example
 * const notice = retractNotice({ messageId: "m1" })
 */
export function retractNotice(retraction: Retraction): ChunkOf<NoticeItem> {
  return noticeItem("retract", retraction);
}

/**
 * Something odd that changed nothing.
 *
 * @example
 * const warning = warningItem({ code: "event-refused", message: "The host sent this twice." })
 */
export function warningItem(warning: WarningDetail): ChunkOf<WarningItem> {
  return { type: "warning", ...warning };
}

/**
 * A failure. Nothing follows a terminal one.
 *
 * @example
 * const failure = errorItem({ code: "stream-cut", message: "The connection was lost.", terminal: true })
 */
export function errorItem(error: ErrorDetail, more: { raw?: Raw } = {}): ChunkOf<ErrorItem> {
  return { type: "error", ...error, ...more };
}

/**
 * The verdict of a turn.
 *
 * @example
 * const verdict = resultItem({ subtype: "success", isError: false, text: "Hello", usage: { outputTokens: 2 } })
 */
export function resultItem(given: Given<ResultItem>): ChunkOf<ResultItem> {
  return { type: "result", ...given };
}

/** The end of a run. */
export function doneEvent(result: DoneEvent["result"]): DoneChunk {
  return { type: "done", result };
}
