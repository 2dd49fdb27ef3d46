import type { StartErrorCode } from "./error-detail.ts";
import { describeValue, StartError } from "./errors.ts";
import { nearestName } from "./nearest.ts";

/**
 * Checks a value given by a caller. Returns `undefined`, or a sentence that names the field, the value and the remedy:
 * `limits.turns is 0. Give a number above 0.` All checks of callers' input use these functions.
 */
export type Check = (value: unknown, field: string) => string | undefined;

/**
 * Checks a value.
 * @throws StartError with the sentence of the check.
 */
export function checkInput(
  check: Check,
  value: unknown,
  field: string,
  code: Extract<StartErrorCode, `invalid-${string}`> = "invalid-option",
): void {
  const fault = check(value, field);
  if (fault !== undefined) throw new StartError(code, fault);
}

/** The sentence about an invalid value. `expected` continues "Give": `a string`. */
export function giveInstead(field: string, value: unknown, expected: string): string {
  return `${field} is ${describeValue(value)}. Give ${expected}.`;
}

/** Creates a check from a test and a description of the expected value. */
export function expects(fits: (value: unknown) => boolean, expected: string): Check {
  return (value, field) => (fits(value) ? undefined : giveInstead(field, value, expected));
}

export const aText = expects((value) => typeof value === "string", "a string");
export const aFlag = expects((value) => typeof value === "boolean", "true or false");
export const aFunction = expects((value) => typeof value === "function", "a function");
export const anObject = expects(isRecord, "an object");
export const aboveZero = expects((value) => typeof value === "number" && value > 0, "a number above 0");
export const zeroOrMore = expects((value) => typeof value === "number" && value >= 0, "a number, 0 or more");
export const aSignal = expects(isSignal, "the signal of an AbortController");

export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): Check {
  const isBounded = most !== Number.MAX_SAFE_INTEGER;
  const range = isBounded ? `from ${least} to ${most}` : least === 1 ? "above 0" : `${least} or more`;
  return expects(
    (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
    `a whole number${isBounded || least === 1 ? "" : ","} ${range}`,
  );
}

/** One word of a closed list. */
export function oneOf(words: readonly string[]): Check {
  return (value, field) => {
    if (typeof value === "string" && words.includes(value)) return undefined;
    const near = typeof value === "string" ? nearestName(value, words) : undefined;
    const guess = near === undefined ? "" : ` Did you mean "${near}"?`;
    return `${giveInstead(field, value, `one of: ${words.join(", ")}`)}${guess}`;
  };
}

/** A list whose entries all pass; `of` describes the entries, as in `Give a list of strings`. */
export function listOf(check: Check, of: string, { least = 0, most = Number.MAX_SAFE_INTEGER } = {}): Check {
  return (value, field) => {
    if (!Array.isArray(value)) return giveInstead(field, value, `a list of ${of}`);
    if (value.length < least) return `${field} has ${value.length} entries. Give at least ${least}.`;
    if (value.length > most) return `${field} has ${value.length} entries. Give at most ${most}.`;
    return firstFault(value.entries(), (entry, index) => check(entry, `${field}[${index}]`));
  };
}

/** An object with any names whose values all pass. */
export function recordOf(check: (value: unknown, field: string, name: string) => string | undefined): Check {
  return (value, field) => {
    if (!isRecord(value)) return giveInstead(field, value, "an object");
    return firstFault(Object.entries(value), (entry, name) => check(entry, `${field}${showKey(name)}`, name));
  };
}

/** A name as part of a field path. Unusual, possibly hostile names are quoted and truncated. */
function showKey(name: string): string {
  return /^[A-Za-z_][\w-]{0,63}$/.test(name) ? `.${name}` : `[${describeValue(name)}]`;
}

interface ShapeOptions {
  /** Names that must be present. */
  readonly required?: readonly string[];
  /** The text before an unknown name, instead of the field: `option `. */
  readonly what?: string;
  /** The description of the expected value, if the value is not an object. */
  readonly expected?: string;
}

/** An object with these names and no others. A value of `undefined` counts as absent. */
export function shape(table: Readonly<Record<string, Check>>, options: ShapeOptions = {}): Check {
  const { required = [], what, expected = "an object" } = options;
  const known = Object.keys(table);
  return (value, field) => {
    if (!isRecord(value)) return giveInstead(field === "" ? "options" : field, value, expected);
    const prefix = field === "" ? "" : `${field}.`;
    const unknown = findUnknownName(value, known, what ?? prefix);
    if (unknown !== undefined) return unknown;
    return firstFault(Object.entries(table), (check, name) => {
      const given = value[name];
      return given === undefined && !required.includes(name) ? undefined : check(given, prefix + name);
    });
  };
}

function firstFault<Key, Value>(
  entries: Iterable<readonly [Key, Value]>,
  check: (value: Value, key: Key) => string | undefined,
): string | undefined {
  for (const [key, value] of entries) {
    const fault = check(value, key);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** A longer name is truncated in a message, because it can be anything. */
const SHOWN_CHARACTERS = 64;

function findUnknownName(given: object, known: readonly string[], what: string): string | undefined {
  const name = Object.keys(given).find((one) => !known.includes(one));
  if (name === undefined) return undefined;
  return `There is no ${what}${name.slice(0, SHOWN_CHARACTERS)}. ${remedyForName(name, known)}`;
}

/** Rejects unknown names and suggests the nearest known one. `what` comes before the name: `limits.`. */
export function checkNames(given: object, known: readonly string[], what: string): void {
  const fault = findUnknownName(given, known, what);
  if (fault !== undefined) throw new StartError("invalid-option", fault);
}

/**
 * Checks that the options of a function are an object without unknown names. Every public function with options calls
 * it before it reads any of them. `of` is the function, as in `createItems`.
 */
export function checkOptionNames(given: unknown, known: readonly string[], of: string): void {
  if (!isRecord(given)) {
    throw new StartError("invalid-option", `The options of ${of} are ${describeValue(given)}. Give an object.`);
  }
  checkNames(given, known, `option of ${of} called `);
}

/** What to write instead of an unknown name. */
export function remedyForName(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined ? `Known: ${known.join(", ")}.` : `Did you mean ${near}?`;
}

/** Whether a value is an object: not null, not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Also recognises plain objects of other realms: the prototype is null, or has a null prototype itself. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === null || Object.getPrototypeOf(prototype) === null;
  } catch {
    return false;
  }
}

function isSignal(value: unknown): boolean {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  return typeof aborted === "boolean" && typeof addEventListener === "function";
}
