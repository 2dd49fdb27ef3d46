import type { EventType } from "#domain";
import type { JsonRecord } from "./json.ts";
import { isRecord, ownValue } from "./json.ts";

type Kind = "string" | "number" | "boolean" | "array" | "record" | "any";

type Fields = Readonly<Record<string, Kind>>;

/** The fields of every event, required and optional. */
const REQUIRED: Fields = { seq: "number", ts: "number", runId: "string" };
const OPTIONAL: Fields = { firstSeq: "number", agent: "string", parent: "string" };

/**
 * The fields of each type that readers rely on. Optional fields and the members of closed lists (codes, stop reasons)
 * are not checked: a later version may have more of them.
 */
const FIELDS: Readonly<Record<EventType, Fields>> = {
  "text-delta": { messageId: "string", index: "number", text: "string" },
  "thinking-delta": { messageId: "string", index: "number", text: "string" },
  "tool-input-delta": { messageId: "string", index: "number", callId: "string", name: "string", json: "string" },
  start: { backend: "string", mode: "string" },
  message: { id: "string", role: "string", blocks: "array" },
  "tool-call": { callId: "string", name: "string", input: "any", executedBy: "string" },
  "tool-result": { callId: "string", name: "string", output: "any", isError: "boolean" },
  permission: { callId: "string", name: "string", state: "string", by: "string" },
  handoff: { from: "string", to: "string", message: "string" },
  notice: { kind: "string", data: "any" },
  warning: { code: "string", message: "string" },
  error: { code: "string", message: "string", terminal: "boolean" },
  result: { subtype: "string", isError: "boolean", usage: "record" },
  done: { result: "record" },
};

/** Why a record is not an event of that type; `undefined` if it is one. */
export function findEventFault(record: JsonRecord, type: EventType): string | undefined {
  const missing = findMisfit(record, REQUIRED, false) ?? findMisfit(record, OPTIONAL, true);
  if (missing !== undefined) return missing;
  const { seq, firstSeq } = record as { seq: number; firstSeq?: number };
  if (!Number.isSafeInteger(seq) || seq < 0) return `seq is ${seq}, not a whole number of 0 or more.`;
  if (Object.hasOwn(record, "firstSeq") && !isSpan(firstSeq, seq)) return `firstSeq is ${firstSeq}, with seq ${seq}.`;
  return findMisfit(record, FIELDS[type], false);
}

function findMisfit(record: JsonRecord, fields: Fields, mayBeAbsent: boolean): string | undefined {
  for (const [name, kind] of Object.entries(fields)) {
    const value = ownValue(record, name);
    if (value === undefined && (mayBeAbsent || kind === "any")) continue;
    if (!isOfKind(value, kind)) return `The event's ${name} is not of kind ${kind}.`;
  }
  return undefined;
}

function isOfKind(value: unknown, kind: Kind): boolean {
  if (kind === "any") return true;
  if (kind === "array") return Array.isArray(value);
  if (kind === "record") return isRecord(value);
  return typeof value === kind;
}

function isSpan(firstSeq: number | undefined, seq: number): boolean {
  return firstSeq !== undefined && Number.isSafeInteger(firstSeq) && firstSeq >= 0 && firstSeq <= seq;
}
