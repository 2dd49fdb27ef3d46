import type { Message } from "#domain";
import type { JsonSchema } from "#tools";

/** A tool as it is described to a model. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** Which tools a model may or must use in this turn. */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** The structured output that is requested from the vendor itself. */
export interface OutputSpec {
  /** Letters, digits, `_` and `-`, at most 64 characters: vendors require a name. */
  readonly name: string;
  /** Must describe an object: vendors require it. */
  readonly schema: JsonSchema;
}

/** The request to a model backend: one reply to a transcript. */
export interface ModelRequest {
  /** The transcript, oldest first. The message directly after a tool call answers it. */
  readonly messages: readonly Message[];
  /** The agent's instructions; never part of the transcript. */
  readonly instructions?: string | undefined;
  readonly tools: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice | undefined;
  /** `false` requests one tool call at a time, if the vendor supports that. */
  readonly parallelToolCalls?: boolean | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  /** Lets the model think first, with at most this many tokens. */
  readonly thinkingTokens?: number | undefined;
  /** Each chunk keeps the frame it was read from, as `raw`. */
  readonly keepRaw?: boolean | undefined;
  /** The most bytes of one reply (`limits.replyBytes`). A longer one ends the run anyway; this bounds what is read of it. */
  readonly replyBytes?: number | undefined;
  /** Requests an answer as JSON of this form. Only set if `nativeOutput` returned `true` for it. */
  readonly output?: OutputSpec | undefined;
}
