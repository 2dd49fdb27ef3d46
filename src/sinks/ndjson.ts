import { encodeEvent } from "#wire";
import type { Sink } from "./sink.ts";

/** One event per line, as JSON: for machines. */
export function createNdjsonSink(out: (text: string) => void): Sink {
  return { accept: (event) => out(`${encodeEvent(event)}\n`) };
}
