import { StartError } from "#domain";
import type { WireLimits } from "./frame.ts";

/**
 * The limits used where the caller names none: lines of up to 10 MiB, and a longer one ends the stream.
 *
 * Agents put whole files and screenshots on one line, so 1 MiB breaks real sessions; past 10 MiB a sender is broken
 * or hostile, and skipping silently would hide that.
 */
export const DEFAULT_WIRE_LIMITS: WireLimits = { maxLineBytes: 10_485_760, overflow: "end" };

/** One bad line is noise (tools print to stdout); five in a row mean this is not the stream we think it is. */
export const MAX_CONSECUTIVE_FAULTS = 5;

/**
 * Deepest nesting of a JSON value we take. `JSON.parse` itself survives a million levels, but everything that walks
 * the value later by recursion would not. No known dialect goes past 20.
 */
export const MAX_JSON_DEPTH = 512;

/** How many bytes of an over-long or unreadable frame are kept for people to look at. */
export const SEEN_BYTES = 2048;

/** A line becomes one string, and the longest string of V8 has half a billion characters. */
export const LARGEST_LINE_LIMIT = 268_435_456;

/** Fills in the defaults. Throws a `StartError` for a limit that would not limit anything. */
export function resolveLimits(limits: Partial<WireLimits> = {}): WireLimits {
  const maxLineBytes = limits.maxLineBytes ?? DEFAULT_WIRE_LIMITS.maxLineBytes;
  const overflow = limits.overflow ?? DEFAULT_WIRE_LIMITS.overflow;
  if (!Number.isInteger(maxLineBytes) || maxLineBytes < 1 || maxLineBytes > LARGEST_LINE_LIMIT) {
    throw new StartError(
      "invalid-option",
      `maxLineBytes is ${String(maxLineBytes)}. Give a whole number of bytes from 1 to ${LARGEST_LINE_LIMIT}.`,
    );
  }
  if (overflow !== "end" && overflow !== "skip") {
    throw new StartError("invalid-option", `overflow is ${JSON.stringify(overflow)}. Use "end" or "skip".`);
  }
  return { maxLineBytes, overflow };
}
