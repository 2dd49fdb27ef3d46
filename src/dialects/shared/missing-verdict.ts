import {
  addUsage,
  type Chunk,
  errorItem,
  type MessageItem,
  resultItem,
  stopFailure,
  textOf,
  type Usage,
  warningItem,
} from "#domain";
import { unfinishedReply } from "./stream-faults.ts";

/** Watches a stream for the verdict that its format may not give. */
export interface MissingVerdict {
  /** Looks at chunks on their way, and returns them. */
  look(chunks: readonly Chunk[]): readonly Chunk[];
  /** What is missing at the proper end of the stream: the verdict, as the last reply and what could be read say it. */
  missing(): Chunk[];
}

/**
 * Adds up a model's replies for the verdict that their format does not give. A reply that its vendor refused, filtered
 * or cut is no success. A stream that gave no message and of which something could not be read is a failure: it was
 * written in another format.
 *
 * @example
 * const decoder = createDecoder(openAiChat)
 * const verdict = createMissingVerdict()
 * const chunks = [...verdict.look(decoder.push(bytes)), ...verdict.look(decoder.end()), ...verdict.missing()]
 */
export function createMissingVerdict(): MissingVerdict {
  let given = false;
  let usage: Usage = {};
  let last: MessageItem | undefined;
  let turns = 0;
  let unread: string | undefined;
  return {
    look(chunks) {
      for (const chunk of chunks) {
        if (chunk.type === "text-delta") continue;
        if (chunk.type === "result" || (chunk.type === "error" && chunk.terminal)) given = true;
        else if (chunk.type === "error" && chunk.code === "json-decode") unread ??= chunk.message;
        // Half a line before any reply is over: either the answer was cut, or it is no line of the format at all.
        else if (chunk.type === "warning" && chunk.code === "incomplete-last-line" && turns === 0) {
          unread ??= "its only line is not complete JSON";
        }
        if (chunk.type !== "message" || chunk.role !== "assistant") continue;
        turns += 1;
        usage = addUsage(usage, chunk.usage ?? {});
        last = chunk;
      }
      return chunks;
    },
    missing() {
      if (given) return [];
      if (unread !== undefined) return [unreadable()];
      const failure = last && stopFailure("The model", last);
      if (failure !== undefined) return [errorItem(failure)];
      return verdictOn(last, { usage, turns });
    },
  };
}

function verdictOn(last: MessageItem | undefined, used: { readonly usage: Usage; readonly turns: number }): Chunk[] {
  const text = textOf(last?.blocks ?? []);
  if (last?.stopReason === "max-tokens") {
    const message = "The answer was cut: the model reached its limit of output tokens.";
    return [resultItem({ subtype: "error_max_tokens", isError: true, text, message, ...used })];
  }
  const warnings = last?.stopReason === "pause" ? [warningItem(unfinishedReply())] : [];
  return [...warnings, resultItem({ subtype: "success", isError: false, text, ...used })];
}

/** Which line it was, and why, has been said already. */
function unreadable(): Chunk {
  return errorItem({
    code: "json-decode",
    message: "The output is not in the format it was read as.",
    terminal: true,
    diagnostic: { troubleshooting: 'Read plain text with the format "text", or have the command write JSON lines.' },
  });
}
