import type { Message } from "#domain";
import type { JsonSchema } from "#tools";

/** A tool as a model is told of it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** Which tools a model may or must use in this turn. */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** The form an answer has to have, where the vendor itself can be asked for it. */
export interface OutputSpec {
  /** Letters, digits, `_` and `-`, at most 64: vendors want a name for it. */
  readonly name: string;
  /** Describes an object: what vendors insist on. */
  readonly schema: JsonSchema;
}

/** What a model backend is asked: one reply to a transcript. */
export interface ModelRequest {
  /** The transcript, oldest first. Every tool call in it is answered by the message right behind it. */
  readonly messages: readonly Message[];
  /** The agent's own instructions; never part of the transcript. */
  readonly instructions?: string | undefined;
  readonly tools: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice | undefined;
  /** `false` asks the model for one tool call at a time, where the vendor can be asked. */
  readonly parallelToolCalls?: boolean | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  /** Let the model think first, with at most this many tokens. */
  readonly thinkingTokens?: number | undefined;
  /** Each chunk keeps the frame it was read from, as `raw`. */
  readonly keepRaw?: boolean | undefined;
  /** Have the answer written as JSON of this form. Only what `nativeOutput` has said `true` to is given here. */
  readonly output?: OutputSpec | undefined;
}
