import { isRecord, ownString } from "#wire";

/**
 * `retry-after-ms`, or `retry-after` in seconds or as a date. A date is measured against the host's own `date` header:
 * our clock may be wrong, the host's is the one it means. Anything else is nothing to go by. A number of any size is a
 * number: one that is too large is a very long wait, not none.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = readNumber(headers["retry-after-ms"]);
  if (ms !== undefined) return Math.min(ms, LONGEST_WAIT_MS);
  const value = headers["retry-after"];
  const seconds = readNumber(value);
  if (seconds !== undefined) return Math.min(seconds * 1000, LONGEST_WAIT_MS);
  const wait = readDate(value) - readDate(headers.date);
  return Number.isFinite(wait) && wait >= 0 ? wait : undefined;
}

/** The largest number that survives JSON unchanged. */
const LONGEST_WAIT_MS = Number.MAX_SAFE_INTEGER;

/** A wait inside the body of an error, as Gemini gives it: `"34.07s"` in one of its `details`. */
export function readRetryDelay(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const delay = isRecord(detail) ? ownString(detail, "retryDelay") : undefined;
    const seconds = delay?.endsWith("s") === true ? readNumber(delay.slice(0, -1)) : undefined;
    if (seconds !== undefined) return Math.min(seconds * 1000, LONGEST_WAIT_MS);
  }
  return undefined;
}

function readNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\+?(\d+(\.\d*)?(e\+?\d+)?|Infinity)\s*$/i.test(text) ? Number(text) : undefined;
}

/** HTTP's own way to write a date. `Date.parse` alone makes a date of nearly anything. */
function readDate(text: string | undefined): number {
  const isDate =
    text !== undefined && /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4,6} \d{2}:\d{2}:\d{2} GMT$/.test(text.trim());
  return isDate ? Date.parse(text) : Number.NaN;
}
