import type { Diagnostic, ErrorCode } from "./error-detail.ts";
import type { Message } from "./message.ts";
import type { Raw } from "./raw.ts";
import type { RunResult } from "./run-result.ts";
import type { Usage } from "./usage.ts";
import type { WarningCode } from "./warning.ts";

/** The fields of every event. */
export interface Envelope {
  /** 0, 1, 2 … per run, without gaps: the SSE id, the cursor, the replay position. */
  readonly seq: number;
  /** Only on a merged delta: it represents the deltas `firstSeq` … `seq`. */
  readonly firstSeq?: number;
  /** Milliseconds since 1970. */
  readonly ts: number;
  readonly runId: string;
  /** The agent of the current leg. */
  readonly agent?: string;
  /** The tool call id of the sub-agent this belongs to. */
  readonly parent?: string;
  /** The exact frame, if the event came from a wire and frames are kept. */
  readonly raw?: Raw;
}

/** A piece of text. The deltas of one (messageId, index) concatenate to that block's text, unless retracted. */
export interface TextDelta extends Envelope {
  readonly type: "text-delta";
  readonly messageId: string;
  readonly index: number;
  readonly text: string;
}

/** A piece of thinking. */
export interface ThinkingDelta extends Envelope {
  readonly type: "thinking-delta";
  readonly messageId: string;
  readonly index: number;
  readonly text: string;
}

/** A piece of a tool call's arguments, as JSON text. Never enough to run the tool. */
export interface ToolInputDelta extends Envelope {
  readonly type: "tool-input-delta";
  readonly messageId: string;
  readonly index: number;
  readonly callId: string;
  readonly name: string;
  readonly json: string;
}

/** How Millrace talks to a backend. */
export type Mode = "plain" | "control" | "http" | "tape";

/** A backend has started. One per run, or one per leg when the agents use several backends. */
export interface StartItem extends Envelope {
  readonly type: "start";
  readonly backend: string;
  readonly mode: Mode;
  readonly model?: string;
  readonly sessionId?: string;
  readonly tools?: readonly string[];
}

/** One finished message: the definitive version of what its deltas previewed. */
export interface MessageItem extends Envelope, Message {
  readonly type: "message";
}

/** A model called a tool. `executedBy` says where it runs. */
export interface ToolCallItem extends Envelope {
  readonly type: "tool-call";
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  readonly executedBy: "millrace" | "backend";
}

/** Why a tool call was answered without running the tool. */
export type Skipped = "handoff" | "denied" | "aborted" | "incomplete";

/** The answer to exactly one tool call. */
export interface ToolResultItem extends Envelope {
  readonly type: "tool-result";
  readonly callId: string;
  readonly name: string;
  readonly output: unknown;
  readonly isError: boolean;
  readonly skipped?: Skipped;
  /** How long the tool itself took. */
  readonly ms?: number;
  /**
   * How long the call waited before the tool began: for hooks, permission, a person, a free slot. Absent when it did
   * not wait.
   */
  readonly waitedMs?: number;
}

/** One step of the decision whether a tool call may run. */
export interface PermissionItem extends Envelope {
  readonly type: "permission";
  readonly callId: string;
  readonly name: string;
  readonly state: "asked" | "allowed" | "denied";
  readonly by: "rule" | "callback" | "hook" | "guard" | "user";
  readonly reason?: string;
  readonly input?: unknown;
}

/** Another agent takes over. */
export interface HandoffItem extends Envelope {
  readonly type: "handoff";
  readonly from: string;
  readonly to: string;
  readonly message: string;
}

/**
 * Something a reader may want to know: `status`, `rate-limit`, `retry`, `retract`, `stall`, `task`, `stderr`,
 * `unknown:<frame type>` … The list of kinds is open, because vendors add new ones.
 */
export interface NoticeItem extends Envelope {
  readonly type: "notice";
  readonly kind: string;
  readonly data: unknown;
}

/**
 * The data of a notice of kind `retract`: the deltas of that message are void. With `fromIndex`, only those of blocks
 * from that index on.
 */
export interface Retraction {
  readonly messageId: string;
  readonly fromIndex?: number;
}

/** Something odd happened and nothing changed because of it. */
export interface WarningItem extends Envelope {
  readonly type: "warning";
  readonly code: WarningCode;
  readonly message: string;
  readonly context?: unknown;
  readonly expected?: boolean;
}

/** A failure. After a terminal one only `done` follows. */
export interface ErrorItem extends Envelope {
  readonly type: "error";
  readonly code: ErrorCode;
  readonly message: string;
  readonly terminal: boolean;
  readonly diagnostic?: Diagnostic;
}

/** The verdict of one turn or one leg. A run may have several; the last one counts. */
export interface ResultItem extends Envelope {
  readonly type: "result";
  readonly subtype: string;
  readonly isError: boolean;
  /** The text of the final message. */
  readonly text?: string;
  /** Why it did not succeed, as a sentence: which limit, what did not match, what the backend reported. */
  readonly message?: string;
  readonly structured?: unknown;
  readonly usage: Usage;
  readonly costUsd?: number;
  readonly turns?: number;
  readonly ms?: number;
  readonly sessionId?: string;
}

/** The end of a run. Exactly one per run, always last, after success, failure and abort alike. */
export interface DoneEvent extends Envelope {
  readonly type: "done";
  readonly result: RunResult;
}

/** A preview; may be merged; never needed to rebuild state. */
export type DeltaEvent = TextDelta | ThinkingDelta | ToolInputDelta;

/** A finished fact; items alone rebuild the transcript and the result. */
export type ItemEvent =
  | StartItem
  | MessageItem
  | ToolCallItem
  | ToolResultItem
  | PermissionItem
  | HandoffItem
  | NoticeItem
  | WarningItem
  | ErrorItem
  | ResultItem;

/**
 * What a caller observes: immutable, JSON-safe, numbered within its run, of exactly one family.
 *
 * @example
 * for await (const event of run("offline", "Hello")) {
 *   if (event.type === "text-delta") process.stdout.write(event.text)
 *   if (event.type === "done") console.log(event.result.status)
 * }
 */
export type AgentEvent = DeltaEvent | ItemEvent | DoneEvent;

/** The type of an event: `text-delta`, `tool-call`, `done` … */
export type EventType = AgentEvent["type"];

/** The event of one type. */
export type EventOf<Type extends EventType> = Extract<AgentEvent, { readonly type: Type }>;

/** The three families of events. */
export type Family = "delta" | "item" | "done";

/** Every event type with its family. */
export const EVENT_FAMILIES = {
  "text-delta": "delta",
  "thinking-delta": "delta",
  "tool-input-delta": "delta",
  start: "item",
  message: "item",
  "tool-call": "item",
  "tool-result": "item",
  permission: "item",
  handoff: "item",
  notice: "item",
  warning: "item",
  error: "item",
  result: "item",
  done: "done",
} as const satisfies Record<EventType, Family>;

/**
 * The family of an event.
 *
 * @example
 * for await (const event of run("offline", "Hello")) if (familyOf(event) === "item") console.log(event.type)
 */
export function familyOf(event: { readonly type: EventType }): Family {
  return EVENT_FAMILIES[event.type];
}

/**
 * Whether an event is a delta: a preview that may be merged.
 *
 * @example
 * for await (const event of run("offline", "Hello")) if (!isDelta(event)) console.log(event.type)
 */
export function isDelta<Event extends { readonly type: EventType }>(
  event: Event,
): event is Extract<Event, { readonly type: DeltaEvent["type"] }> {
  return EVENT_FAMILIES[event.type] === "delta";
}
