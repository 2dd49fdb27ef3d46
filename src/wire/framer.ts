import { StartError } from "#domain";
import type { Framer, FramerOptions, Framing } from "./frame.ts";
import { createNdjsonFramer } from "./ndjson.ts";
import { createSseFramer } from "./sse-decoder.ts";
import { createTextFramer } from "./text.ts";

const FRAMERS: ReadonlyMap<string, (options?: FramerOptions) => Framer> = new Map([
  ["ndjson", createNdjsonFramer],
  ["sse", createSseFramer],
  ["text", createTextFramer],
] satisfies [Framing, (options?: FramerOptions) => Framer][]);

/**
 * A fresh framer for one stream. Throws a `StartError` with code `unknown-format` for a framing there is not, and with
 * `invalid-option` for limits that make no sense.
 *
 * @example
 * const frames = createFramer("ndjson").push(bytes);
 */
export function createFramer(framing: Framing, options?: FramerOptions): Framer {
  const create = FRAMERS.get(framing);
  if (create === undefined) {
    const names = [...FRAMERS.keys()].map((name) => `"${name}"`).join(", ");
    throw new StartError("unknown-format", `Unknown framing ${JSON.stringify(framing)}. Use one of ${names}.`);
  }
  return create(options);
}
