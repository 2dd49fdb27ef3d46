import { readCount, type StopReason, type Usage, USAGE_FIELDS } from "#domain";
import { isRecord, ownArray, ownBoolean, ownNumber, ownString } from "#wire";
import type { Fields } from "./frame-reader.ts";

/** Reads the fields that a schema extracted, under the names that each kind accepts. */

const TEXT_FIELDS = ["text", "chunk", "content", "delta"] as const;
const THINKING_FIELDS = ["text", "chunk", "thinking", "content", "delta"] as const;
const CALL_ID_FIELDS = ["id", "callId", "toolUseId", "toolCallId"] as const;
const OUTPUT_FIELDS = ["output", "result", "content"] as const;
const REASON_FIELDS = ["message", "text", "error"] as const;

const MAX_ID_LENGTH = 256;

/** Values of `status` that mean a failure. */
const FAILURES: ReadonlySet<string> = new Set(["error", "failed", "failure"]);

/** The words that agents use for a stop reason, in lower case without blanks and dashes. */
const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["stop", "end-turn"],
  ["endturn", "end-turn"],
  ["end", "end-turn"],
  ["completed", "end-turn"],
  ["tooluse", "tool-use"],
  ["toolcall", "tool-use"],
  ["toolcalls", "tool-use"],
  ["functioncall", "tool-use"],
  ["length", "max-tokens"],
  ["maxtokens", "max-tokens"],
  ["stopsequence", "stop-sequence"],
  ["refusal", "refusal"],
  ["contentfilter", "content-filter"],
  ["safety", "content-filter"],
  ["pause", "pause"],
  ["pauseturn", "pause"],
]);

export function readMessageText(fields: Fields): string | undefined {
  return firstText(fields, TEXT_FIELDS);
}

export function readThinkingText(fields: Fields): string | undefined {
  return firstText(fields, THINKING_FIELDS);
}

/** Why something failed, as the stream words it. */
export function readReason(fields: Fields): string | undefined {
  return firstText(fields, REASON_FIELDS);
}

export function readCallId(fields: Fields): string | undefined {
  for (const name of CALL_ID_FIELDS) {
    const id = readId(fields, name);
    if (id !== undefined) return id;
  }
  return undefined;
}

/** An id is a string or, in some dialects, a number. Longer ones are cut, so that ids can be kept in memory. */
export function readId(fields: Fields, name: string): string | undefined {
  const number = ownNumber(fields, name);
  if (number !== undefined) return String(number);
  const text = ownString(fields, name);
  return text === "" ? undefined : text?.slice(0, MAX_ID_LENGTH);
}

/** The message that an event belongs to. */
export function readMessageId(fields: Fields): string | undefined {
  return readId(fields, "messageId") ?? readId(fields, "id");
}

/** The output of a tool; `null` if nothing was extracted. */
export function readOutput(fields: Fields): unknown {
  for (const name of OUTPUT_FIELDS) if (Object.hasOwn(fields, name)) return fields[name];
  return null;
}

/**
 * Whether something failed: `isError`, the negated `success`, or a `status` that means failure; otherwise `undefined`.
 */
export function readFailure(fields: Fields): boolean | undefined {
  const isError = ownBoolean(fields, "isError") ?? ownBoolean(fields, "is_error");
  if (isError !== undefined) return isError;
  const success = ownBoolean(fields, "success");
  if (success !== undefined) return !success;
  const status = ownString(fields, "status");
  return status === undefined ? undefined : FAILURES.has(status.toLowerCase());
}

/** The stop reason for the stream's word; `undefined` if there is no word. */
export function readStopReason(fields: Fields): StopReason | undefined {
  const word = ownString(fields, "stopReason");
  if (word === undefined) return undefined;
  return STOP_REASONS.get(word.toLowerCase().replaceAll(/[-_ ]/g, "")) ?? "unknown";
}

/** The token counts among the fields; `undefined` if there are none, as in almost every delta. */
export function readUsage(fields: Fields): Usage | undefined {
  let usage: { -readonly [Field in keyof Usage]: Usage[Field] } | undefined;
  for (const field of USAGE_FIELDS) {
    const count = readCount(fields[field]);
    if (count === undefined) continue;
    usage ??= {};
    usage[field] = count;
  }
  return usage;
}

export function readWords(fields: Fields, name: string): readonly string[] | undefined {
  const list = ownArray(fields, name)?.filter((entry) => typeof entry === "string");
  return list !== undefined && list.length > 0 ? list : undefined;
}

/** Milliseconds since 1970, from a number or a date string. */
export function readTimestamp(fields: Fields): number | undefined {
  const number = readCount(fields.timestamp);
  if (number !== undefined) return number;
  const date = Date.parse(ownString(fields, "timestamp") ?? "");
  return Number.isNaN(date) ? undefined : date;
}

function firstText(fields: Fields, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = asText(fields[name]);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** A string, the joined strings of a list, or the `text` or `message` of an object. */
function asText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) {
    const texts = value.map((entry) => (typeof entry === "string" ? entry : textOf(entry)));
    return texts.some((text) => text !== undefined) ? texts.join("") : undefined;
  }
  return textOf(value);
}

function textOf(value: unknown): string | undefined {
  return isRecord(value) ? (ownString(value, "text") ?? ownString(value, "message")) : undefined;
}
