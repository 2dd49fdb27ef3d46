/** Where a chat's lines come from. */
export interface ChatLines {
  /** The next line; `undefined` when there is none any more. `isMore`: it goes on from the one before. */
  next(isMore: boolean): Promise<string | undefined>;
  /**
   * Lets `hear` have every line that arrives before the returned function is called. A line it does not take (`false`)
   * waits for `next`.
   */
  listen(hear: (line: string) => boolean): () => void;
  /** No further lines: `next` gives `undefined`. */
  close(): void;
  /** Whether a person left with Ctrl-C. */
  readonly wasLeft: boolean;
}

/** Lines of a message that may follow each other with a backslash at their end. */
const MAX_LINES = 10_000;

/** One message: lines that end in a backslash are joined with the next. `undefined` at the end. */
export async function readMessage(lines: ChatLines): Promise<string | undefined> {
  const parts: string[] = [];
  for (;;) {
    const line = await lines.next(parts.length > 0);
    if (line === undefined) return parts.length === 0 ? undefined : parts.join("\n");
    if (!endsInBackslash(line) || parts.length >= MAX_LINES) return [...parts, line].join("\n");
    parts.push(line.slice(0, -1));
  }
}

/** Two backslashes are one that is meant. */
function endsInBackslash(line: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
}
