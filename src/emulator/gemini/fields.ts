import { type JsonRecord, ownArray, ownRecord, ownString, ownValue } from "#wire";
import { signThought } from "../ids.ts";

// Gemini accepts every field in camel case and in snake case.

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

/** A field's name in camel case. */
export function toCamel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The signature on the first call of a reply, which must be sent back with it. */
export function signCall(name: string): string {
  return signThought(`call ${name}`);
}

/** The two values that mean "another model made this call", which Gemini accepts. */
const FOREIGN: ReadonlySet<string> = new Set([
  "skip_thought_signature_validator",
  "context_engineering_is_the_way_to_go",
]);

export function isGeminiSignature(signature: string, name: string): boolean {
  return FOREIGN.has(signature) || signature === signCall(name);
}
