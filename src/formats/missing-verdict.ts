import { addUsage, type Chunk, errorItem, resultItem, textOf, type Usage } from "#domain";

/** Watches a stream for the verdict that its format may not give. */
export interface MissingVerdict {
  /** Looks at chunks on their way, and returns them. */
  look(chunks: readonly Chunk[]): readonly Chunk[];
  /** What is missing at the proper end of the stream: a success, or the failure of a stream that could not be read. */
  missing(): Chunk[];
}

/**
 * Adds up a model's replies for the verdict that their format does not give. A stream that gave no message and of which
 * something could not be read is a failure: it was written in another format.
 */
export function createMissingVerdict(): MissingVerdict {
  let given = false;
  let usage: Usage = {};
  let text = "";
  let turns = 0;
  let unread: string | undefined;
  return {
    look(chunks) {
      for (const chunk of chunks) {
        if (chunk.type === "text-delta") continue;
        if (chunk.type === "result" || (chunk.type === "error" && chunk.terminal)) given = true;
        else if (chunk.type === "error" && chunk.code === "json-decode") unread ??= chunk.message;
        if (chunk.type !== "message" || chunk.role !== "assistant") continue;
        turns += 1;
        usage = addUsage(usage, chunk.usage ?? {});
        text = textOf(chunk.blocks);
      }
      return chunks;
    },
    missing() {
      if (given) return [];
      if (unread !== undefined) return [unreadable(unread)];
      return [resultItem({ subtype: "success", isError: false, text, usage, turns })];
    },
  };
}

function unreadable(message: string): Chunk {
  return errorItem({
    code: "json-decode",
    message: `The output is not in the format it was read as: ${message}`,
    terminal: true,
    diagnostic: { troubleshooting: 'Read plain text with the format "text", or have the command write JSON lines.' },
  });
}
