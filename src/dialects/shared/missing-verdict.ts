import {
  type ChunkOf,
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

/** Derives the verdict of a stream whose format does not give one. */
export interface MissingVerdict {
  /** Observes chunks and returns them unchanged. */
  look(chunks: readonly Chunk[]): readonly Chunk[];
  /** The verdict that is missing at the proper end of the stream, derived from the last reply. */
  missing(): Chunk[];
}

/**
 * Derives a verdict from a model's replies, for formats that give none. A reply that the vendor refused, filtered or
 * cut is not a success. A stream without a message, in which something could not be read, is a failure: it is in
 * another format.
 *
 * @example
 * const decoder = createDecoder(openAiChat)
 * const verdict = createMissingVerdict()
 * const chunks = [...verdict.look(decoder.push(bytes)), ...verdict.look(decoder.end()), ...verdict.missing()]
 */
export function createMissingVerdict(): MissingVerdict {
  let given = false;
  let usage: Usage = {};
  let last: ChunkOf<MessageItem> | undefined;
  let turns = 0;
  let unread: string | undefined;
  return {
    look(chunks) {
      for (const chunk of chunks) {
        if (chunk.type === "text-delta") continue;
        if (chunk.type === "result" || (chunk.type === "error" && chunk.terminal)) given = true;
        else if (chunk.type === "error" && chunk.code === "json-decode") unread ??= chunk.message;
        // An incomplete line before the first reply ends: either the answer was cut, or the output is in another
        // format.
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

function verdictOn(
  last: ChunkOf<MessageItem> | undefined,
  used: { readonly usage: Usage; readonly turns: number },
): Chunk[] {
  const text = textOf(last?.blocks ?? []);
  if (last?.stopReason === "max-tokens") {
    const message = "The answer was cut: the model reached its limit of output tokens.";
    return [resultItem({ subtype: "error_max_tokens", isError: true, text, message, ...used })];
  }
  const warnings = last?.stopReason === "pause" ? [warningItem(unfinishedReply())] : [];
  return [...warnings, resultItem({ subtype: "success", isError: false, text, ...used })];
}

/** The unreadable line was reported already. */
function unreadable(): Chunk {
  return errorItem({
    code: "json-decode",
    message: "The output is not in the format it was read as.",
    terminal: true,
    diagnostic: { troubleshooting: 'Read plain text with the format "text", or have the command write JSON lines.' },
  });
}
