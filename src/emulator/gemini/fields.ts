import { type JsonRecord, ownArray, ownRecord, ownString, ownValue } from "#wire";

// Gemini takes every field in camel case and in snake case.

export function valueOf(record: JsonRecord, name: string): unknown {
  return ownValue(record, name) ?? ownValue(record, toSnake(name));
}

export function recordOf(record: JsonRecord, name: string): JsonRecord | undefined {
  return ownRecord(record, name) ?? ownRecord(record, toSnake(name));
}

export function listOf(record: JsonRecord, name: string): readonly unknown[] | undefined {
  return ownArray(record, name) ?? ownArray(record, toSnake(name));
}

export function textOf(record: JsonRecord, name: string): string | undefined {
  return ownString(record, name) ?? ownString(record, toSnake(name));
}

/** A field's name in camel case, whichever way it was written. */
export function toCamel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
