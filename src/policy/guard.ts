/** The kind of content a guard checks. */
export type GuardPlace = "input" | "tool-call" | "tool-result" | "output";

/** The content that a guard checks. */
export interface Guarded {
  readonly place: GuardPlace;
  /** The text of the input or the output. For tools: the arguments or the result, as JSON unless it is a string. */
  readonly text: string;
  /** For tool calls and results: a copy of the value itself. */
  readonly value: unknown;
  /** For tool calls and results: the name of the tool. */
  readonly name: string | undefined;
  readonly callId: string | undefined;
  readonly runId: string;
  readonly agent: string | undefined;
  readonly context: unknown;
  /** `window` only: the end of the text that was released before this piece (at most 4,096 characters). */
  readonly before: string;
  readonly signal: AbortSignal;
}

/**
 * `undefined`: the content passes. `deny`: it does not. `replace`: this is used instead (text for input and output, any
 * value for tools).
 */
export type GuardAnswer = undefined | void | { readonly deny: string } | { readonly replace: unknown };

/**
 * A check of content. The guards of one place run one after the other; each receives the content as the guards before
 * it left it. Input: each user message. Output: the text and the thinking of a message, separately.
 *
 * @example
 * const noKeys: Guard = {
 *   name: "no-keys",
 *   place: "output",
 *   check: ({ text }) => (text.includes("sk-") ? { deny: "It holds a key." } : undefined),
 * }
 */
export interface Guard {
  /** Used in events and messages. */
  readonly name: string;
  readonly place: GuardPlace;
  /** For tool calls and results: the tools it applies to, written like a hook's `tool`. */
  readonly tool?: string;
  /** Default 60 000, at least 1 000. A guard that is late, throws or gives an invalid answer denies. */
  readonly timeoutMs?: number;
  readonly check: (content: Guarded) => GuardAnswer | Promise<GuardAnswer>;
}

/**
 * How output is held back while output guards check it. `buffer`: nothing is shown until the whole message has passed.
 * `window`: at most this many characters are held back; each piece is shown once it has passed.
 */
export type OutputMode = "buffer" | { readonly windowCharacters: number };
