import type { Chunk, ErrorItem, MessageItem, ToolCallItem, Usage } from "#domain";
import type { Renamer } from "./unique-ids.ts";

/**
 * Looks at one reply while it passes: remembers what the loop needs, and leaves out what readers get from us.
 *
 * A class, because it is called once per delta: closures are optimised anew for every reply they serve.
 */
export class ReplySieve {
  readonly #renamer: Renamer;
  readonly #onSpent: (usage: Usage) => void;
  readonly #shown = new Set<string>();
  readonly #calls: ToolCallItem[] = [];
  readonly #answered = new Set<string>();
  #message: MessageItem | undefined;
  #error: ErrorItem | undefined;
  // Deltas come in long rows of one message: most cost one comparison.
  #lastShown = "";

  /** `renamer` sees to it that no id of the run comes twice; `onSpent` hears what a reply has used that came to nothing. */
  constructor(renamer: Renamer, onSpent: (usage: Usage) => void) {
    this.#renamer = renamer;
    this.#onSpent = onSpent;
  }

  /** Messages of which deltas were shown and which are not finished. */
  get shown(): ReadonlySet<string> {
    return this.#shown;
  }

  get message(): MessageItem | undefined {
    return this.#message;
  }

  /** A terminal error. It is held back: the turn may be tried again, and whoever gives up on it writes it. */
  get error(): ErrorItem | undefined {
    return this.#error;
  }

  /** The calls nobody has answered yet. A format answers those itself whose arguments are not JSON. */
  openCalls(): readonly ToolCallItem[] {
    return this.#calls.filter((call) => !this.#answered.has(call.callId));
  }

  /** The chunks readers are to see. */
  pass(batch: readonly Chunk[]): Chunk[] {
    const passed: Chunk[] = [];
    for (const chunk of batch) {
      this.#renamer.rename(chunk);
      if (chunk.type === "text-delta" || chunk.type === "thinking-delta" || chunk.type === "tool-input-delta") {
        if (chunk.messageId !== this.#lastShown) {
          this.#lastShown = chunk.messageId;
          this.#shown.add(chunk.messageId);
        }
        passed.push(chunk);
      } else if (this.#passItem(chunk)) passed.push(chunk);
    }
    return passed;
  }

  #passItem(chunk: Chunk): boolean {
    switch (chunk.type) {
      case "start":
        return false;
      case "message":
        this.#message = chunk;
        this.#shown.delete(chunk.id);
        this.#lastShown = "";
        return true;
      case "tool-call":
        this.#calls.push(chunk);
        return true;
      case "tool-result":
        this.#answered.add(chunk.callId);
        return true;
      case "notice":
        if (chunk.kind === "usage") this.#onSpent((chunk.data as { readonly usage: Usage }).usage);
        return true;
      case "error":
        if (chunk.terminal) this.#error = chunk;
        return !chunk.terminal;
      default:
        return true;
    }
  }
}
