import {
  aFunction,
  type Check,
  checkInput,
  describeValue,
  expects,
  giveInstead,
  listOf,
  oneOf,
  shape,
  StartError,
  wholeNumber,
} from "#domain";
import type { Guard, GuardPlace, OutputMode } from "./guard.ts";
import type { Otherwise, PermissionCallback, PermissionRules } from "./permission.ts";
import { type Hooks, POINTS } from "./point.ts";
import { parseRule } from "./rule.ts";

const TOOL_POINTS: readonly string[] = ["before-tool", "after-tool"];
const OTHERWISE = ["allow", "ask", "deny"] as const satisfies readonly Otherwise[];
const GUARD_PLACES = ["input", "tool-call", "tool-result", "output"] as const satisfies readonly GuardPlace[];

const timeoutMs = expects(
  (value) => typeof value === "number" && Number.isFinite(value) && value > 0,
  "a number of milliseconds; fewer than 1000 count as 1000",
);

/** The tools a hook or a guard applies to. */
const toolNames: Check = (value, field) => {
  if (typeof value !== "string" || value.trim() === "") {
    return giveInstead(
      field,
      value,
      'a tool\'s name, several as "A|B", a pattern as "mcp__*", or leave it out for all',
    );
  }
  for (const name of value.split("|").map((part) => part.trim())) {
    if (name === "")
      return `${field} is ${describeValue(value)}: a name is missing next to "|". Give one on both sides.`;
    if (/[()\s]/.test(name)) {
      return giveInstead(field, value, "tool names only, without arguments: check the input in the hook itself");
    }
  }
  return undefined;
};

/** Rejects `tool` at a point that does not concern tools. */
function noTool(point: string): Check {
  return (value, field) => `${field} is ${describeValue(value)}, but ${point} is not about tools. Leave it out.`;
}

function hookAt(point: string): Check {
  const tool = TOOL_POINTS.includes(point) ? toolNames : noTool(point);
  const expected = "a function, or { tool, timeoutMs, run }";
  const hook = shape({ tool, timeoutMs, run: aFunction }, { required: ["run"], expected });
  return (value, field) => (typeof value === "function" ? undefined : hook(value, field));
}

/**
 * Checks the caller's hooks.
 * @throws StartError `invalid-option` naming field, value and remedy.
 */
export function checkHooks(hooks: unknown, field = "hooks"): asserts hooks is Hooks | undefined {
  if (hooks === undefined) return;
  checkInput(shape(Object.fromEntries(POINTS.map((point) => [point, () => undefined]))), hooks, field);
  for (const [point, list] of Object.entries(hooks as object)) {
    if (list === undefined) continue;
    const each = listOf(hookAt(point), "functions, or of { tool, timeoutMs, run }");
    checkInput(each, list, `${field}[${JSON.stringify(point)}]`);
  }
}

const rule: Check = (value, field) => {
  if (typeof value !== "string") return giveInstead(field, value, 'a string such as "Bash" or "Bash(git *)"');
  parseRule(value);
  return undefined;
};
const ruleList = listOf(rule, 'rules such as "Bash(git *)"');
const rules = shape({ allow: ruleList, deny: ruleList, ask: ruleList, otherwise: oneOf(OTHERWISE) });

/**
 * Checks permission rules, including each rule's syntax.
 * @throws StartError `invalid-option` naming field, value and remedy.
 */
export function checkRules(given: unknown, field = "permissions"): asserts given is PermissionRules | undefined {
  if (given !== undefined) checkInput(rules, given, field);
}

/**
 * Checks a permission callback.
 * @throws StartError `invalid-option` naming field, value and remedy.
 */
export function checkPermission(
  permission: unknown,
  field = "permission",
): asserts permission is PermissionCallback | undefined {
  if (permission === undefined || typeof permission === "function") return;
  const hint = typeof permission === "object" ? ' Rules ({ allow, deny, ask }) go into "permissions".' : "";
  const answers = 'a function that answers { allow: true }, { allow: false } or "ask"';
  throw new StartError("invalid-option", `${giveInstead(field, permission, answers)}${hint}`);
}

/**
 * Checks guards and the output mode. An output guard requires an explicit output mode (S4-28): a guard that sees text
 * only after it was shown cannot prevent anything.
 *
 * @throws StartError `invalid-option` naming field, value and remedy.
 */
export function checkGuards(
  guards: unknown,
  outputMode: unknown,
  field = "guards",
): asserts guards is readonly Guard[] | undefined {
  checkOutputMode(outputMode);
  if (guards === undefined) return;
  checkInput(listOf(guard, "guards: { name, place, check }"), guards, field);
  for (const [index, { name, place }] of (guards as readonly Guard[]).entries()) {
    if (place !== "output" || outputMode !== undefined) continue;
    throw new StartError(
      "invalid-option",
      `${field}[${index}] ("${name}") guards the output, but the output is streamed: it would be read before the guard has seen it. ` +
        `Set outputMode: "buffer" to show nothing until a whole message has passed, ` +
        `or outputMode: { windowCharacters: 200 } to hold back a piece at a time and show it once it has passed.`,
    );
  }
}

const guard: Check = (value, field) => {
  const place = (value as Partial<Guard> | null | undefined)?.place;
  const tool = place === "tool-call" || place === "tool-result" ? toolNames : noTool(String(place));
  return shape(
    {
      name: expects((name) => typeof name === "string" && name !== "", "a name; it appears in events and messages"),
      place: oneOf(GUARD_PLACES),
      tool,
      timeoutMs,
      check: aFunction,
    },
    { required: ["name", "place", "check"] },
  )(value, field);
};

function checkOutputMode(mode: unknown): asserts mode is OutputMode | undefined {
  if (mode === undefined || mode === "buffer") return;
  const window = shape(
    { windowCharacters: wholeNumber(1) },
    { required: ["windowCharacters"], expected: '"buffer" or { windowCharacters: 200 }' },
  );
  checkInput(window, mode, "outputMode");
}
