import { ERROR_CODES, EVENT_FAMILIES, type EventType, isRecord, WARNING_CODES } from "#domain";

/** The rule for a field: a kind of value, or one of a list of words. */
type Rule = "text" | "number" | "place" | "flag" | "list" | "blocks" | "record" | "present" | readonly string[];

const DELTA = { messageId: "text", index: "place" } as const;
const TOOL = { callId: "text", name: "text" } as const;

/** The required fields of each event. Optional ones are left to the types. */
const SHAPES: Readonly<Record<EventType, Readonly<Record<string, Rule>>>> = {
  "text-delta": { ...DELTA, text: "text" },
  "thinking-delta": { ...DELTA, text: "text" },
  "tool-input-delta": { ...DELTA, ...TOOL, json: "text" },
  start: { backend: "text", mode: ["plain", "control", "http", "tape"] },
  message: { id: "text", role: ["assistant", "user"], blocks: "blocks" },
  "tool-call": { ...TOOL, input: "present", executedBy: ["millrace", "backend"] },
  "tool-result": { ...TOOL, output: "present", isError: "flag" },
  permission: { ...TOOL, state: ["asked", "allowed", "denied"], by: ["rule", "callback", "hook", "guard", "user"] },
  handoff: { from: "text", to: "text", message: "text" },
  notice: { kind: "text", data: "present" },
  warning: { code: WARNING_CODES, message: "text" },
  error: { code: ERROR_CODES, message: "text", terminal: "flag" },
  result: { subtype: "text", isError: "flag", usage: "record" },
  done: { result: "record" },
};

const RESULT_SHAPE: Readonly<Record<string, Rule>> = {
  status: ["success", "error", "aborted", "interrupted"],
  subtype: "text",
  text: "text",
  toolCalls: "list",
  messages: "list",
  usage: "record",
  turns: "number",
  ms: "number",
  errors: "list",
  warnings: "list",
};

/** Whether a value is an object whose `type` is one of the fourteen. */
export function hasKnownType(
  value: unknown,
): value is { readonly type: EventType } & Readonly<Record<string, unknown>> {
  return isRecord(value) && typeof value["type"] === "string" && Object.hasOwn(EVENT_FAMILIES, value["type"]);
}

/** Describes the first field of an event that is invalid for its type; `undefined` if all are valid. */
export function findMisshapen(
  event: { readonly type: EventType } & Readonly<Record<string, unknown>>,
): string | undefined {
  return (
    findBadField(event, { seq: "place", ts: "number", runId: "text" }) ??
    findBadField(event, SHAPES[event.type]) ??
    (event.type === "done" ? findBadResult(event["result"] as Readonly<Record<string, unknown>>) : undefined)
  );
}

function findBadResult(result: Readonly<Record<string, unknown>>): string | undefined {
  const bad = findBadField(result, RESULT_SHAPE);
  if (bad !== undefined) return `result.${bad}`;
  const calls = result["toolCalls"] as readonly unknown[];
  const badCall = calls.findIndex((call) => !isRecord(call) || findBadField(call, { ...TOOL, input: "present" }));
  return badCall === -1 ? undefined : `result.toolCalls[${badCall}] needs callId, name and input`;
}

function findBadField(
  record: Readonly<Record<string, unknown>>,
  shape: Readonly<Record<string, Rule>>,
): string | undefined {
  for (const [field, rule] of Object.entries(shape)) {
    const value = Object.hasOwn(record, field) ? record[field] : undefined;
    if (!follows(value, rule)) return `${field} must be ${describe(rule)}, not ${show(value)}`;
  }
  return undefined;
}

function follows(value: unknown, rule: Rule): boolean {
  switch (rule) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "place":
      return Number.isSafeInteger(value) && (value as number) >= 0;
    case "flag":
      return typeof value === "boolean";
    case "list":
      return Array.isArray(value);
    case "blocks":
      return Array.isArray(value) && value.every((block) => isRecord(block) && typeof block["type"] === "string");
    case "record":
      return isRecord(value);
    case "present":
      return value !== undefined;
    default:
      return typeof value === "string" && rule.includes(value);
  }
}

function describe(rule: Rule): string {
  if (typeof rule !== "string") return `one of ${rule.slice(0, 6).join(", ")}${rule.length > 6 ? ", …" : ""}`;
  return rule === "place" ? "a whole number from 0 on" : rule === "present" ? "present" : `a ${rule}`;
}

function show(value: unknown): string {
  return value === undefined ? "absent" : (JSON.stringify(value) ?? typeof value).slice(0, 60);
}
