import { decodeBase64 } from "#domain";
import { isRecord, type JsonRecord } from "#wire";
import type { TapeEntryType } from "./tape.ts";

/** The kind of a field. A trailing `?` makes it optional. */
type Kind = "count" | "text" | "texts" | "numbers" | "record" | "headers" | "failure" | "nullable" | "any";

type Fields = Readonly<Record<string, Kind | `${Kind}?`>>;

const PLACE: Fields = { at: "count", now: "numbers?", ids: "texts?", draws: "numbers?" };

/** The fields of each entry. `bytes` means `text` or `base64`. */
const ENTRIES: Readonly<Record<TapeEntryType, Fields & { readonly bytes?: "text" }>> = {
  request: { id: "count", method: "text", url: "text", headers: "headers", body: "record?" },
  head: { id: "count", status: "count", headers: "headers" },
  body: { id: "count", bytes: "text" },
  "body-end": { id: "count" },
  "body-break": { id: "count", failure: "failure" },
  "no-answer": { id: "count", failure: "failure" },
  spawn: { id: "count", executable: "text", args: "texts", cwd: "text?", env: "texts" },
  spawned: { id: "count", pid: "count?" },
  "not-spawned": { id: "count", failure: "failure" },
  stdin: { id: "count", bytes: "text" },
  "stdin-end": { id: "count" },
  "stdin-refused": { id: "count", failure: "failure" },
  stdout: { id: "count", bytes: "text" },
  stderr: { id: "count", bytes: "text" },
  "stdout-end": { id: "count", failure: "failure?" },
  "stderr-end": { id: "count", failure: "failure?" },
  kill: { id: "count", signal: "text" },
  exit: { id: "count", code: "nullable", signal: "nullable" },
  answer: { key: "text", failure: "failure?", odd: "text?", why: "text?" },
  progress: { key: "text", state: "any" },
  decision: { callId: "text", decision: "any" },
  timer: { ms: "count" },
  abort: { reason: "text" },
  end: {},
};

/** Describes what is wrong with a line that should be an entry; `undefined` when nothing is. */
export function findEntryFault(value: unknown): string | undefined {
  if (!isRecord(value)) return "the line is not a JSON object";
  const type = value["type"];
  if (typeof type !== "string" || !Object.hasOwn(ENTRIES, type)) {
    return `type is ${show(type)}, which is not an entry of a tape`;
  }
  const { bytes, ...fields } = ENTRIES[type as TapeEntryType];
  const fault = findFieldFault(value, PLACE) ?? findFieldFault(value, fields as Fields);
  if (fault !== undefined) return `${type}: ${fault}`;
  if (bytes !== undefined && !hasBytes(value)) return `${type}: there is neither text nor base64`;
  if (type === "request" && value["body"] !== undefined && !isBody(value["body"] as JsonRecord)) {
    return "request: body is neither text nor base64 nor a length with its sum";
  }
  return undefined;
}

function findFieldFault(record: JsonRecord, fields: Fields): string | undefined {
  for (const [name, kind] of Object.entries(fields)) {
    const value = Object.hasOwn(record, name) ? record[name] : undefined;
    if (value === undefined && kind.endsWith("?")) continue;
    const wanted = kind.replace("?", "") as Kind;
    if (!fits(value, wanted)) return `${name} is ${show(value)}, not ${WORDS[wanted]}`;
  }
  return undefined;
}

const WORDS: Readonly<Record<Kind, string>> = {
  count: "a number from 0 on",
  text: "a string",
  texts: "a list of strings",
  numbers: "a list of numbers",
  record: "an object",
  headers: "an object of texts",
  failure: "a failure with name and message",
  nullable: "a string, a number or null",
  any: "anything",
};

function fits(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case "count":
      return typeof value === "number" && value >= 0 && Number.isFinite(value);
    case "text":
      return typeof value === "string";
    case "texts":
      return Array.isArray(value) && value.every((one) => typeof one === "string");
    case "numbers":
      return Array.isArray(value) && value.every((one) => typeof one === "number");
    case "record":
      return isRecord(value);
    case "headers":
      return isRecord(value) && Object.values(value).every((one) => typeof one === "string");
    case "failure":
      return isRecord(value) && typeof value["name"] === "string" && typeof value["message"] === "string";
    case "nullable":
      return value === null || typeof value === "string" || typeof value === "number";
    case "any":
      return true;
  }
}

function hasBytes(record: JsonRecord): boolean {
  if (typeof record["text"] === "string") return true;
  return typeof record["base64"] === "string" && decodeBase64(record["base64"]) !== undefined;
}

function isBody(body: JsonRecord): boolean {
  return hasBytes(body) || (typeof body["length"] === "number" && typeof body["sum"] === "string");
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "missing";
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}
