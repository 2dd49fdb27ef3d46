import type { StopReason, Usage } from "#domain";

/**
 * A model's answer: at most one thought, one text and any number of tool calls, in that order. It is written in a
 * script, or made by the offline model.
 */
export interface Reply {
  readonly thinking?: string;
  readonly text?: string;
  /** The text in exactly these pieces instead of word by word. */
  readonly chunks?: readonly string[];
  readonly toolCalls?: readonly ReplyCall[];
  /** Default: `tool-use` with calls, `end-turn` without. */
  readonly stopReason?: StopReason;
  /** The vendor's exact stop reason, instead of the one for `stopReason`: `"TOO_MANY_TOOL_CALLS"`. */
  readonly vendorStopReason?: string;
  /** The reported usage; a missing field is estimated. */
  readonly usage?: Usage;
  /** The delay before anything is sent. */
  readonly delayMs?: number;
  /** The delay between two events. */
  readonly betweenMs?: number;
}

/** A tool call. Its arguments are a value, or the exact text of a model, which need not be JSON. */
export interface ReplyCall {
  readonly name: string;
  /** Default: a new id. */
  readonly id?: string;
  readonly input?: unknown;
  readonly json?: string;
}

/** A reply without open fields, ready to be encoded by any protocol. */
export interface FinishedReply {
  /** Unique; each protocol adds its prefix. */
  readonly id: string;
  readonly model: string;
  readonly createdMs: number;
  readonly thinking: FinishedThinking | undefined;
  readonly textPieces: readonly string[];
  readonly calls: readonly FinishedCall[];
  readonly stopReason: StopReason;
  readonly vendorStopReason: string | undefined;
  readonly stopSequence: string | undefined;
  readonly usage: FinishedUsage;
}

export interface FinishedThinking {
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
