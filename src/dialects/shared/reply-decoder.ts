import { type Chunk, errorItem, REPLY_BYTES, replyTooLarge } from "#domain";
import { DEFAULT_WIRE_LIMITS, LARGEST_LINE_LIMIT } from "#wire";
import { createDecoder, type Decoder } from "./decoder.ts";
import type { Format } from "./format.ts";

/** JSON needs two characters for a quotation mark or the end of a line. */
const MOST_ESCAPED = 2;

export interface ReplyDecoderOptions {
  readonly keepRaw?: boolean | undefined;
  /** `limits.replyBytes` of the run. */
  readonly replyBytes?: number | undefined;
}

/** How long a line may be so that a reply of this many bytes can be written on one line. */
export function lineBytesFor(replyBytes: number): number {
  return Math.max(DEFAULT_WIRE_LIMITS.maxLineBytes, Math.min(MOST_ESCAPED * replyBytes, LARGEST_LINE_LIMIT));
}

/**
 * A decoder for a reply that may have as many bytes as the run allows. Some hosts write a whole tool call on one line, so
 * a line may be as long as a reply, and a line that is too long ends the run as a reply that is too long does.
 */
export function createReplyDecoder(format: Format, { keepRaw = false, replyBytes = REPLY_BYTES }: ReplyDecoderOptions) {
  const limitBytes = lineBytesFor(replyBytes);
  const decoder = createDecoder(format, { keepRaw, limits: { maxLineBytes: limitBytes } });
  const named = (chunks: Chunk[]): Chunk[] => (decoder.isOver ? chunks.map(nameLimit) : chunks);
  const fixedBy = limitBytes === LARGEST_LINE_LIMIT ? "the longest line that can be read" : undefined;
  const nameLimit = (chunk: Chunk): Chunk =>
    chunk.type === "error" && chunk.code === "buffer-overflow"
      ? errorItem(replyTooLarge({ what: "one line of the reply has", limitBytes, fixedBy }))
      : chunk;
  return {
    push: (bytes) => named(decoder.push(bytes)),
    rest: () => named(decoder.rest()),
    end: () => named(decoder.end()),
    reset: () => decoder.reset(),
    get isOver() {
      return decoder.isOver;
    },
    get lastNonJsonLine() {
      return decoder.lastNonJsonLine;
    },
  } satisfies Decoder;
}
