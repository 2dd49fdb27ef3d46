import { StartError } from "#domain";
import type { WireLimits } from "./frame.ts";

/**
 * The default limits: lines of up to 10 MiB, and a longer one ends the stream.
 *
 * Agents put whole files and screenshots on one line, so 1 MiB breaks real sessions; beyond 10 MiB a sender is broken
 * or hostile, and skipping silently would hide that.
 */
export const DEFAULT_WIRE_LIMITS: WireLimits = { maxLineBytes: 10_485_760, overflow: "end" };

/** One bad line is noise (tools print to stdout); five in a row mean that this is not the expected stream. */
export const MAX_CONSECUTIVE_FAULTS = 5;

/** How many bytes of an over-long or unreadable frame are kept for display. */
export const SEEN_BYTES = 2048;

/** A line becomes one string, and the longest string in V8 has half a billion characters. */
export const LARGEST_LINE_LIMIT = 268_435_456;

/** Fills in the defaults. Throws a `StartError` for an invalid limit. */
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
