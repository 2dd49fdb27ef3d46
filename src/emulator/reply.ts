import type { StopReason, Usage } from "#domain";

/**
 * What a model answers: at most one thought, one text and any number of tool calls, in that order.
 *
 * A script writes it by hand; the offline model makes it from the prompt.
 */
export interface Reply {
  readonly thinking?: string;
  readonly text?: string;
  /** The text in exactly these pieces instead of word by word. */
  readonly chunks?: readonly string[];
  readonly toolCalls?: readonly ReplyCall[];
  /** Default: `tool-use` with calls, `end-turn` without. */
  readonly stopReason?: StopReason;
  /** The very word a vendor sends for why it stopped, instead of the one for `stopReason`: `"TOO_MANY_TOOL_CALLS"`. */
  readonly vendorStopReason?: string;
  /** What is reported as used; a field left out is estimated. */
  readonly usage?: Usage;
  /** How long to wait before anything is sent. */
  readonly delayMs?: number;
  /** How long to wait between two events. */
  readonly betweenMs?: number;
}

/** A tool call: its arguments as a value, or as the very text a model would write, which need not be JSON. */
export interface ReplyCall {
  readonly name: string;
  /** Default: a new one. */
  readonly id?: string;
  readonly input?: unknown;
  readonly json?: string;
}

/** A reply with everything decided, ready to be encoded by any protocol. */
export interface FinishedReply {
  /** Unique; a protocol puts its prefix before it. */
  readonly id: string;
  readonly model: string;
  readonly createdMs: number;
  readonly thinking: FinishedThought | undefined;
  readonly textPieces: readonly string[];
  readonly calls: readonly FinishedCall[];
  readonly stopReason: StopReason;
  readonly vendorStopReason: string | undefined;
  readonly stopSequence: string | undefined;
  readonly usage: FinishedUsage;
}

export interface FinishedThought {
  readonly pieces: readonly string[];
  readonly signature: string;
}

export interface FinishedCall {
  readonly id: string;
  readonly name: string;
  readonly json: string;
}

export interface FinishedUsage extends Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}
