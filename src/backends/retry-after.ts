/**
 * `retry-after-ms`, or `retry-after` in seconds or as a date. A date is measured against the host's own `date` header:
 * our clock may be wrong, the host's is the one it means. Anything else is nothing to go by.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = readNumber(headers["retry-after-ms"]);
  if (ms !== undefined) return ms;
  const value = headers["retry-after"];
  const seconds = readNumber(value);
  if (seconds !== undefined) return seconds * 1000;
  const wait = readDate(value) - readDate(headers.date);
  return Number.isFinite(wait) && wait >= 0 ? wait : undefined;
}

function readNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d{1,15}(\.\d{1,9})?\s*$/.test(text) ? Number(text) : undefined;
}

/** HTTP's own way to write a date. `Date.parse` alone makes a date of nearly anything. */
function readDate(text: string | undefined): number {
  const isDate =
    text !== undefined && /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text.trim());
  return isDate ? Date.parse(text) : Number.NaN;
}
