import { describeThrown, isRecord } from "#domain";
import { MAX_JSON_DEPTH } from "./limits.ts";

/** A JSON object as it came from `JSON.parse`. Its keys are the sender's: read them, never copy them by assignment. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** What became of a text: its value, or why it has none. */
export type Parsed =
  | { readonly value: unknown; readonly fault?: never }
  | { readonly fault: string; readonly value?: never };

/** Why a value that is too deep is refused. */
export const TOO_DEEP = `nested deeper than ${MAX_JSON_DEPTH} levels`;

// Every level of nesting takes an opening and a closing bracket, so a shorter text cannot be too deep.
const SHORTEST_TOO_DEEP = 2 * (MAX_JSON_DEPTH + 1);

/**
 * Reads a text as JSON without throwing. Nesting deeper than `MAX_JSON_DEPTH` is a fault.
 *
 * @example
 * const parsed = parseJson('{"a":1}');
 * if (parsed.fault === undefined) console.log(parsed.value);
 */
export function parseJson(text: string): Parsed {
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

/** Whether a text has brackets enough. Those inside its strings count too: this only spares a walk over the value. */
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

// The readers below see own properties only, without paying for `Object.hasOwn` (twice the cost of the read, measured):
// a value of JSON.parse inherits from Object.prototype alone, and nothing there is a string, a number, a boolean or a
// list. The one object there, `__proto__`, is Object.prototype itself.

/** The string under a key; `undefined` when it is missing or something else. */
export function ownString(record: JsonRecord, key: string): string | undefined {
  const value = record[key];
  return typeof value === "string" ? value : undefined;
}

/** The number under a key; `undefined` when it is missing or something else. */
export function ownNumber(record: JsonRecord, key: string): number | undefined {
  const value = record[key];
  return typeof value === "number" ? value : undefined;
}

/** The boolean under a key; `undefined` when it is missing or something else. */
export function ownBoolean(record: JsonRecord, key: string): boolean | undefined {
  const value = record[key];
  return typeof value === "boolean" ? value : undefined;
}

/** The object under a key; `undefined` when it is missing or something else. */
export function ownRecord(record: JsonRecord, key: string): JsonRecord | undefined {
  const value = record[key];
  return isRecord(value) && value !== Object.prototype ? value : undefined;
}

/** The list under a key; `undefined` when it is missing or something else. */
export function ownArray(record: JsonRecord, key: string): readonly unknown[] | undefined {
  const value = record[key];
  return Array.isArray(value) ? value : undefined;
}

/** Whatever stands under a key; `undefined` when it is missing. For values handed on as they are. */
export function ownValue(record: JsonRecord, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Recursion is safe here because it stops at the very depth it looks for. */
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
