import type { Chunk, ErrorItem, MessageItem, ToolCallItem } from "#domain";

/** Looks at one reply while it passes: remembers what the loop needs, and leaves out what readers get from us. */
export interface ReplySieve {
  /** The chunks readers are to see. */
  pass(batch: readonly Chunk[]): Chunk[];
  /** Messages of which deltas were shown and which are not finished. */
  readonly shown: ReadonlySet<string>;
  readonly message: MessageItem | undefined;
  /** A terminal error. It is held back: the turn may be tried again, and whoever gives up on it writes it. */
  readonly error: ErrorItem | undefined;
  /** The calls nobody has answered yet. A format answers those itself whose arguments are not JSON. */
  openCalls(): readonly ToolCallItem[];
}

/** Creates the sieve of one reply. `makeUnique` sees to it that no id of the run comes twice. */
export function createSieve(makeUnique: (chunk: Chunk) => void): ReplySieve {
  const shown = new Set<string>();
  const calls: ToolCallItem[] = [];
  const answered = new Set<string>();
  let message: MessageItem | undefined;
  let error: ErrorItem | undefined;
  // Deltas come in long rows of one message: most cost one comparison.
  let lastShown = "";

  const passItem = (chunk: Chunk): boolean => {
    switch (chunk.type) {
      case "start":
        return false;
      case "message":
        message = chunk;
        shown.delete(chunk.id);
        lastShown = "";
        return true;
      case "tool-call":
        calls.push(chunk);
        return true;
      case "tool-result":
        answered.add(chunk.callId);
        return true;
      case "error":
        if (chunk.terminal) error = chunk;
        return !chunk.terminal;
      default:
        return true;
    }
  };

  return {
    shown,
    get message() {
      return message;
    },
    get error() {
      return error;
    },
    pass(batch) {
      const passed: Chunk[] = [];
      for (const chunk of batch) {
        makeUnique(chunk);
        if (chunk.type === "text-delta" || chunk.type === "thinking-delta" || chunk.type === "tool-input-delta") {
          if (chunk.messageId !== lastShown) shown.add((lastShown = chunk.messageId));
          passed.push(chunk);
        } else if (passItem(chunk)) passed.push(chunk);
      }
      return passed;
    },
    openCalls: () => calls.filter((call) => !answered.has(call.callId)),
  };
}
