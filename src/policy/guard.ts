/** What a guard looks at. */
export type GuardPlace = "input" | "tool-call" | "tool-result" | "output";

/** A piece of content on its way. */
export interface Guarded {
  readonly place: GuardPlace;
  /** The text of the input or the output; for tools the arguments or the result, as JSON text unless it is a text. */
  readonly text: string;
  /** The value itself, for tool calls and results. A copy. */
  readonly value: unknown;
  /** The tool, for tool calls and results. */
  readonly name: string | undefined;
  readonly callId: string | undefined;
  readonly runId: string;
  readonly agent: string | undefined;
  readonly context: unknown;
  /** `window` only: what was released before this piece, as far as it is still known. */
  readonly before: string;
  readonly signal: AbortSignal;
}

/** Nothing: it may pass. `deny`: it may not. `replace`: this goes on instead (text for input and output, any value for tools). */
export type GuardAnswer = undefined | void | { readonly deny: string } | { readonly replace: unknown };

/**
 * A check on content. Guards of one place look one after the other, each at what those before it made of the content.
 * Input: each message of a user. Output: the text and the thinking of a message, on their own.
 *
 * @example
 * const noKeys: Guard = {
 *   name: "no-keys",
 *   place: "output",
 *   check: ({ text }) => (text.includes("sk-") ? { deny: "It holds a key." } : undefined),
 * }
 */
export interface Guard {
  /** For events and messages. */
  readonly name: string;
  readonly place: GuardPlace;
  /** Which tools, for tool calls and results: as in a hook's `tool`. */
  readonly tool?: string;
  /** Default 60 000, at least 1 000. A guard that is late, throws or answers nonsense denies. */
  readonly timeoutMs?: number;
  readonly check: (content: Guarded) => GuardAnswer | Promise<GuardAnswer>;
}

/**
 * How output is held back while an output guard looks at it. `buffer`: nothing is shown until the whole message has
 * passed. `window`: at most this many characters are held back; each piece is shown once it has passed.
 */
export type OutputMode = "buffer" | { readonly windowCharacters: number };
