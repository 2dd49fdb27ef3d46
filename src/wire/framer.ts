import { StartError } from "#domain";
import type { Framer, Framing, WireLimits } from "./frame.ts";
import { createNdjsonFramer } from "./ndjson.ts";
import { createSseFramer } from "./sse-decoder.ts";
import { createTextFramer } from "./text.ts";

const FRAMERS: ReadonlyMap<string, (limits?: Partial<WireLimits>) => Framer> = new Map([
  ["ndjson", createNdjsonFramer],
  ["sse", createSseFramer],
  ["text", createTextFramer],
] satisfies [Framing, (limits?: Partial<WireLimits>) => Framer][]);

/**
 * Creates a framer for one stream. Throws a `StartError` with code `unknown-format` for an unknown framing, and with
 * `invalid-option` for invalid limits.
 *
 * @example
 * const frames = createFramer("ndjson").push(bytes);
 */
export function createFramer(framing: Framing, limits?: Partial<WireLimits>): Framer {
  const create = FRAMERS.get(framing);
  if (create === undefined) {
    const names = [...FRAMERS.keys()].map((name) => `"${name}"`).join(", ");
    throw new StartError("unknown-format", `Unknown framing ${JSON.stringify(framing)}. Use one of ${names}.`);
  }
  return create(limits);
}
