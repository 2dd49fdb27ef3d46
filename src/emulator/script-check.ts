import { checkNames, type StopReason, StartError, USAGE_FIELDS } from "#domain";
import { isRecord, type JsonRecord } from "#wire";
import { findFaultMistake } from "./fault.ts";
import type { EmulatorScript } from "./script.ts";

const STOP_REASONS: readonly StopReason[] = [
  "end-turn",
  "tool-use",
  "max-tokens",
  "stop-sequence",
  "refusal",
  "content-filter",
  "pause",
  "malformed-call",
  "unknown",
];

/**
 * Checks a script that somebody wrote, for instance in a JSON file, and returns it typed.
 *
 * Throws `StartError` (`invalid-option`) with the path of the field, its value and what to write instead.
 *
 * @example
 * const script = parseScript(JSON.parse(await readFile("script.json", "utf8")))
 */
export function parseScript(value: unknown): EmulatorScript {
  const script = requireRecord(value, "script");
  allowFields(script, "script", ["rules", "otherwise"]);
  if (!Array.isArray(script.rules)) refuse("script.rules", script.rules, "a list of { match, reply, fault }");
  script.rules.forEach((rule: unknown, index) => checkRule(rule, `script.rules[${index}]`));
  if (script.otherwise !== undefined && script.otherwise !== "brain") checkReply(script.otherwise, "script.otherwise");
  return value as EmulatorScript;
}

function checkRule(value: unknown, path: string): void {
  const rule = requireRecord(value, path);
  allowFields(rule, path, ["match", "reply", "fault"]);
  if (rule.match !== undefined) checkMatch(rule.match, `${path}.match`);
  if (rule.reply !== undefined) checkReply(rule.reply, `${path}.reply`);
  if (rule.fault === undefined) return;
  const mistake = findFaultMistake(rule.fault, `${path}.fault`);
  if (mistake !== undefined) throw new StartError("invalid-option", mistake);
}

function checkMatch(value: unknown, path: string): void {
  const match = requireRecord(value, path);
  allowFields(match, path, ["user", "model", "turn", "tool", "times"]);
  if (match.user !== undefined && typeof match.user !== "string") {
    const user = requireRecord(match.user, `${path}.user`);
    allowFields(user, `${path}.user`, ["contains", "equals"]);
    if (Object.keys(user).length !== 1) refuse(`${path}.user`, user, "{ contains } or { equals }");
    for (const field of ["contains", "equals"]) checkText(user, field, `${path}.user`);
  }
  for (const field of ["model", "tool"]) checkText(match, field, path);
  for (const field of ["turn", "times"]) checkCount(match, field, path);
}

function checkReply(value: unknown, path: string): void {
  const reply = requireRecord(value, path);
  allowFields(reply, path, [
    "text",
    "thinking",
    "toolCalls",
    "stopReason",
    "vendorStopReason",
    "usage",
    "delayMs",
    "betweenMs",
    "chunks",
  ]);
  for (const field of ["text", "thinking", "vendorStopReason"]) checkText(reply, field, path);
  for (const field of ["delayMs", "betweenMs"]) checkCount(reply, field, path);
  if (reply.stopReason !== undefined && !STOP_REASONS.includes(reply.stopReason as StopReason)) {
    refuse(`${path}.stopReason`, reply.stopReason, `one of ${STOP_REASONS.join(", ")}`);
  }
  if (reply.chunks !== undefined) checkChunks(reply, path);
  if (reply.usage !== undefined) {
    const usage = requireRecord(reply.usage, `${path}.usage`);
    allowFields(usage, `${path}.usage`, USAGE_FIELDS);
    for (const field of USAGE_FIELDS) checkCount(usage, field, `${path}.usage`);
  }
  if (reply.toolCalls === undefined) return;
  if (!Array.isArray(reply.toolCalls)) refuse(`${path}.toolCalls`, reply.toolCalls, "a list of { name, input }");
  reply.toolCalls.forEach((call: unknown, index) => checkCall(call, `${path}.toolCalls[${index}]`));
}

function checkChunks(reply: JsonRecord, path: string): void {
  const { chunks } = reply;
  if (!Array.isArray(chunks) || !chunks.every((chunk) => typeof chunk === "string" && chunk !== "")) {
    refuse(`${path}.chunks`, chunks, "a list of texts that are not empty");
  }
  if (reply.text !== undefined && reply.text !== chunks.join("")) {
    refuse(
      `${path}.text`,
      reply.text,
      `what the chunks say together (${JSON.stringify(chunks.join(""))}), or leave it out`,
    );
  }
}

function checkCall(value: unknown, path: string): void {
  const call = requireRecord(value, path);
  allowFields(call, path, ["name", "id", "input", "json"]);
  if (typeof call.name !== "string" || call.name === "") refuse(`${path}.name`, call.name, "the name of a tool");
  if (call.id === "") refuse(`${path}.id`, call.id, "an id, or leave it out");
  for (const field of ["id", "json"]) checkText(call, field, path);
  if (call.json !== undefined && call.input !== undefined) {
    refuse(`${path}.json`, call.json, "either input or json, not both");
  }
  if (call.input !== undefined && !isRecord(call.input)) refuse(`${path}.input`, call.input, "an object");
}

function checkText(record: JsonRecord, field: string, path: string): void {
  const value = record[field];
  if (value !== undefined && typeof value !== "string") refuse(`${path}.${field}`, value, "a text");
}

function checkCount(record: JsonRecord, field: string, path: string): void {
  const value = record[field];
  if (value === undefined || (typeof value === "number" && Number.isSafeInteger(value) && value >= 0)) return;
  refuse(`${path}.${field}`, value, "a whole number from 0 on");
}

function requireRecord(value: unknown, path: string): JsonRecord {
  return isRecord(value) ? value : refuse(path, value, "an object");
}

function allowFields(record: JsonRecord, path: string, known: readonly string[]): void {
  checkNames(record, known, `${path}.`);
}

function refuse(path: string, value: unknown, expected: string): never {
  throw new StartError("invalid-option", `${path} is ${JSON.stringify(value) ?? String(value)}. Give ${expected}.`);
}
