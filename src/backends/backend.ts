import type { Chunk, Message } from "#domain";
import type { JsonSchema } from "#tools";

/** A tool as a model is told of it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** Which tools a model may or must use in this turn. */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

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
}

/**
 * Answers one turn; our runner loops.
 *
 * `stream` yields batches of chunks: deltas, then the `message`, then its `tool-call`s, as the formats make them. It
 * never throws: a failure is a terminal `error` chunk, the last thing it yields. It ends promptly when the signal
 * fires, without an error of its own. It opens nothing before it is iterated, and releases everything when it ends
 * or is left.
 */
export interface ModelBackend {
  readonly kind: "model";
  /** The provider's name: `anthropic`, `openai`, `google`, `openrouter` … */
  readonly name: string;
  readonly model: string;
  /** Parts of a request this backend cannot pass on. Asking for one gives a warning, once. */
  readonly ignores?: readonly ("thinkingTokens" | "temperature" | "toolChoice")[];
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly Chunk[]>;
}

/** Code that carries out a turn. (The second kind, which carries out a whole run, is Claude Code's.) */
export type Backend = ModelBackend;
