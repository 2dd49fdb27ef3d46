/** The source of a chat's lines. */
export interface ChatLines {
  /** The next line; `undefined` at the end. `isMore`: it continues the previous one. */
  next(isMore: boolean): Promise<string | undefined>;
  /**
   * Passes every line to `visit` until the returned function is called. A line for which it returns `false` is kept for
   * `next`.
   */
  listen(visit: (line: string) => boolean): () => void;
  /** Ends the input: `next` resolves with `undefined`. */
  close(): void;
  /** Resolves when no more lines can come. */
  readonly ended: Promise<void>;
  /** Whether a person left with Ctrl-C. */
  readonly wasLeft: boolean;
}

/** The maximum number of lines in one message. */
const MAX_LINES = 10_000;

/** Reads one message: a line that ends in a backslash is joined with the next. `undefined` at the end. */
export async function readMessage(lines: ChatLines): Promise<string | undefined> {
  const parts: string[] = [];
  for (;;) {
    const line = await lines.next(parts.length > 0);
    if (line === undefined) return parts.length === 0 ? undefined : parts.join("\n");
    if (!endsInBackslash(line) || parts.length >= MAX_LINES) return [...parts, line].join("\n");
    parts.push(line.slice(0, -1));
  }
}

/** Two backslashes are an escaped one. */
function endsInBackslash(line: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
}
