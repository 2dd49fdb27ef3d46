import { describeThrown, isRecord, MAX_JSON_DEPTH, type ParsedJson, TOO_DEEP } from "#domain";

/** A JSON object as returned by `JSON.parse`. The sender chooses its keys: read them, never copy them by assignment. */
export type JsonRecord = Readonly<Record<string, unknown>>;

// Every level of nesting takes an opening and a closing bracket, so a shorter text cannot be too deep.
const SHORTEST_TOO_DEEP = 2 * (MAX_JSON_DEPTH + 1);

/**
 * Parses JSON without throwing. Nesting deeper than `MAX_JSON_DEPTH` is a fault.
 *
 * @example
 * const parsed = parseJson('{"a":1}');
 * if (parsed.fault === undefined) console.log(parsed.value);
 */
export function parseJson(text: string): ParsedJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return { fault: describeThrown(thrown) };
  }
  return isTooDeep(text, value) ? { fault: TOO_DEEP } : { value };
}

/** Whether a text's value is nested deeper than `MAX_JSON_DEPTH`. Costs nothing for texts of ordinary length. */
function isTooDeep(text: string, value: unknown): boolean {
  return text.length >= SHORTEST_TOO_DEEP && mayBeTooDeep(text) && isDeeperThan(value, MAX_JSON_DEPTH);
}

/** Whether a text has enough brackets. Brackets inside strings count too: this only avoids walking the value. */
function mayBeTooDeep(text: string): boolean {
  let open = 0;
  for (const bracket of ["[", "{"]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      open += 1;
      if (open > MAX_JSON_DEPTH) return true;
    }
  }
  return false;
}

export { isRecord };

// The readers below see own properties only, without the cost of `Object.hasOwn` (twice that of the read, measured): a
// value of JSON.parse inherits only from Object.prototype, which has no string, number, boolean or list. Its only
// object, `__proto__`, is Object.prototype itself.

/** The string under a key; `undefined` if it is missing or has another type. */
export function ownString(record: JsonRecord, key: string): string | undefined {
  const value = record[key];
  return typeof value === "string" ? value : undefined;
}

/** The number under a key; `undefined` if it is missing or has another type. */
export function ownNumber(record: JsonRecord, key: string): number | undefined {
  const value = record[key];
  return typeof value === "number" ? value : undefined;
}

/** The boolean under a key; `undefined` if it is missing or has another type. */
export function ownBoolean(record: JsonRecord, key: string): boolean | undefined {
  const value = record[key];
  return typeof value === "boolean" ? value : undefined;
}

/** The object under a key; `undefined` if it is missing or has another type. */
export function ownRecord(record: JsonRecord, key: string): JsonRecord | undefined {
  const value = record[key];
  return isRecord(value) && value !== Object.prototype ? value : undefined;
}

/** The list under a key; `undefined` if it is missing or has another type. */
export function ownArray(record: JsonRecord, key: string): readonly unknown[] | undefined {
  const value = record[key];
  return Array.isArray(value) ? value : undefined;
}

/** Any value under a key; `undefined` if it is missing. For values that are passed on unchanged. */
export function ownValue(record: JsonRecord, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Recursion is safe here because it stops at the depth being tested. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const entry of value) {
      if (typeof entry === "object" && isDeeperThan(entry, levels - 1)) return true;
    }
    return false;
  }
  for (const key in value) {
    const entry = (value as JsonRecord)[key];
    if (typeof entry === "object" && isDeeperThan(entry, levels - 1)) return true;
  }
  return false;
}
