import { encodeEvent } from "#wire";
import { escapeUnsafe } from "./safe-text.ts";
import type { Sink } from "./sink.ts";

/**
 * One event per line, as JSON: for machines. Every line is read back by `decodeEvent` unchanged, and does no harm to a
 * terminal it is printed on: what could move a cursor is written as an escape.
 *
 * @example
 * const sink = createNdjsonSink((line) => process.stdout.write(line))
 * for await (const event of run("offline", "Hello")) sink.accept(event)
 */
export function createNdjsonSink(out: (text: string) => void): Sink {
  return { accept: (event) => out(`${escapeUnsafe(encodeEvent(event))}\n`) };
}
