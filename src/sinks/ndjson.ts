import { encodeEvent } from "#wire";
import { escapeUnsafe } from "./safe-text.ts";
import type { Sink } from "./sink.ts";

/**
 * Writes one event per line as JSON, for machines. `decodeEvent` reads every line back unchanged. The output is safe
 * for a terminal: characters that could move the cursor are escaped.
 *
 * @example
 * const sink = createNdjsonSink((line) => process.stdout.write(line))
 * for await (const event of run("offline", "Hello")) sink.accept(event)
 */
export function createNdjsonSink(out: (text: string) => void): Sink {
  return { accept: (event) => out(`${escapeUnsafe(encodeEvent(event))}\n`) };
}
