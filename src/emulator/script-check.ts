import {
  anObject,
  aText,
  type Check,
  checkInput,
  expects,
  giveInstead,
  listOf,
  oneOf,
  shape,
  type StopReason,
  USAGE_FIELDS,
  wholeNumber,
} from "#domain";
import { checkFault } from "./fault.ts";
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

const count = wholeNumber(0);

const user: Check = (value, field) => {
  if (typeof value === "string") return undefined;
  const fault = shape({ contains: aText, equals: aText })(value, field);
  if (fault !== undefined) return fault;
  return Object.keys(value as object).length === 1
    ? undefined
    : giveInstead(field, value, "{ contains } or { equals }");
};

const match = shape({ user, model: aText, turn: count, tool: aText, times: count });

const callFields = shape(
  {
    name: expects((value) => typeof value === "string" && value !== "", "the name of a tool"),
    id: expects((value) => typeof value === "string" && value !== "", "an id, or leave it out"),
    input: anObject,
    json: aText,
  },
  { required: ["name"] },
);

const call: Check = (value, field) => {
  const fault = callFields(value, field);
  if (fault !== undefined) return fault;
  const { json, input } = value as { readonly json?: string; readonly input?: object };
  const isDouble = json !== undefined && input !== undefined;
  return isDouble ? giveInstead(`${field}.json`, json, "either input or json, not both") : undefined;
};

const aPiece = expects((value) => typeof value === "string" && value !== "", "a string that is not empty");

const replyFields = shape({
  text: aText,
  thinking: aText,
  toolCalls: listOf(call, "{ name, input }"),
  stopReason: oneOf(STOP_REASONS),
  vendorStopReason: aText,
  usage: shape(Object.fromEntries(USAGE_FIELDS.map((name) => [name, count]))),
  delayMs: count,
  betweenMs: count,
  chunks: listOf(aPiece, "strings that are not empty"),
});

const reply: Check = (value, field) => {
  const fault = replyFields(value, field);
  if (fault !== undefined) return fault;
  const { chunks, text } = value as { readonly chunks?: readonly string[]; readonly text?: string };
  if (chunks === undefined || text === undefined || text === chunks.join("")) return undefined;
  const whole = JSON.stringify(chunks.join(""));
  return giveInstead(`${field}.text`, text, `what the chunks say together (${whole}), or leave it out`);
};

const rule = shape({ match, reply, fault: checkFault });

const script = shape(
  {
    rules: listOf(rule, "{ match, reply, fault }"),
    otherwise: (value, field) => {
      if (value === "offline") return undefined;
      return typeof value === "string" ? giveInstead(field, value, '"offline" or a reply') : reply(value, field);
    },
  },
  { required: ["rules"] },
);

/**
 * Checks a script, for example from a JSON file, and returns it typed.
 *
 * Throws `StartError` (`invalid-option`) with the path of the field, its value and the remedy.
 *
 * @example
 * const script = parseScript(JSON.parse(await readFile("script.json", "utf8")))
 */
export function parseScript(value: unknown): EmulatorScript {
  checkInput(script, value, "script");
  return value as EmulatorScript;
}
