import { nearestName, remedyForName } from "#domain";
import { isRecord, type JsonRecord } from "#wire";
import { MAX_CONFIG_DEPTH, MAX_CONFIG_NODES, MAX_FIELDS } from "./limits.ts";
import { refuse, RESERVED_NAMES, show } from "./refusal.ts";

/** Reads a config field by field. Every function throws with the path of the field; only own properties are read. */

/** The object at `where`, if all its keys are known. */
export function readObject(value: unknown, where: string, keys: readonly string[]): JsonRecord {
  if (!isRecord(value)) refuse(where, value, "is not an object", `Write { ${keys.slice(0, 3).join(", ")}, … }.`);
  for (const key of Object.keys(value)) {
    if (keys.includes(key)) continue;
    refuse(`${where}.${shorten(key)}`, key, "is not a known key", remedyForName(key, keys));
  }
  return value;
}

/** The entries of an object whose keys are chosen by the author. */
export function readEntries(value: unknown, where: string): [string, unknown][] {
  if (!isRecord(value)) refuse(where, value, "is not an object", "Write { name: path }.");
  const entries = Object.entries(value);
  if (entries.length > MAX_FIELDS) {
    refuse(where, value, `has ${entries.length} fields`, `At most ${MAX_FIELDS} are allowed.`);
  }
  return entries;
}

export function readList(value: unknown, where: string, bounds: { min: number; max: number }): readonly unknown[] {
  if (!Array.isArray(value)) refuse(where, value, "is not a list", "Write [ … ].");
  if (value.length < bounds.min) refuse(where, value, "is empty", `Give at least ${bounds.min}.`);
  if (value.length > bounds.max) refuse(where, value, "is too long", `At most ${bounds.max} are allowed.`);
  return value;
}

export function readString(value: unknown, where: string, max: number): string {
  if (typeof value !== "string" || value === "") refuse(where, value, "is not a string", "Write a string in quotes.");
  if (value.length > max) refuse(where, value, `is ${value.length} characters long`, `At most ${max} are allowed.`);
  return value;
}

export function readBoolean(value: unknown, where: string): boolean {
  if (typeof value !== "boolean") refuse(where, value, "is not a boolean", "Write true or false.");
  return value;
}

/** One of a closed list of words. */
export function readWord<Word extends string>(value: unknown, where: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === value);
  if (word !== undefined) return word;
  const nearest = typeof value === "string" ? nearestName(value, words) : undefined;
  const hint = nearest === undefined ? "" : ` Did you mean ${show(nearest)}?`;
  return refuse(where, value, "is not allowed", `Use one of: ${words.join(", ")}.${hint}`);
}

/** The value under either spelling of a key, and the path of the spelling that was used. */
export function readEither(record: JsonRecord, keys: readonly [string, string], where: string): [unknown, string] {
  const [first, second] = keys;
  const hasSecond = Object.hasOwn(record, second);
  if (Object.hasOwn(record, first) && hasSecond) {
    refuse(where, record, `has both ${show(first)} and ${show(second)}`, "They mean the same. Keep one.");
  }
  const key = hasSecond ? second : first;
  return [readOwn(record, key), `${where}.${key}`];
}

export function readOwn(record: JsonRecord, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Refuses field names that reach a prototype. */
export function checkFieldName(name: string, where: string): void {
  if (name === "" || RESERVED_NAMES.has(name)) refuse(where, name, "cannot be the name of a field", "Choose another.");
}

/** Refuses nesting that no config needs. Also catches cycles, and objects that reference each other many times. */
export function checkDepth(value: unknown, where: string): void {
  let level: unknown[] = [value];
  let count = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_CONFIG_DEPTH) {
      refuse(where, value, "is nested too deeply", `At most ${MAX_CONFIG_DEPTH} levels are allowed.`);
    }
    const next: unknown[] = [];
    for (const entry of level) {
      if (typeof entry !== "object" || entry === null) continue;
      for (const child of Object.values(entry)) next.push(child);
      count += 1;
      if (count > MAX_CONFIG_NODES) refuse(where, value, "is too large", "Give plain data without repetitions.");
    }
    level = next;
  }
}

/** Shortens a key for a field path in a message. */
export function shorten(key: string): string {
  return key.length > 40 ? `${key.slice(0, 37)}...` : key;
}
