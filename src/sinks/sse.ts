import { encodeEventSse } from "#wire";
import { escapeUnsafe } from "./safe-text.ts";
import type { Sink } from "./sink.ts";

/**
 * Writes events as server-sent events: `id` is the event's number, `event` its type, `data` its JSON.
 *
 * @example
 * const sink = createSseSink((text) => response.write(text))
 * for await (const event of run("offline", "Hello")) sink.accept(event)
 */
export function createSseSink(out: (text: string) => void): Sink {
  return { accept: (event) => out(escapeUnsafe(encodeEventSse(event))) };
}
