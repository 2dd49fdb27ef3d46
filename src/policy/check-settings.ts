import { checkNames, describeValue } from "#domain";
import type { Guard, GuardPlace, OutputMode } from "./guard.ts";
import type { Otherwise, PermissionCallback, PermissionRules } from "./permission.ts";
import { type Hooks, POINTS } from "./point.ts";
import { checkFunction, checkList, checkObject, checkTimeout, checkToolNames, refuse } from "./refuse.ts";
import { parseRule } from "./rule.ts";

const TOOL_POINTS: readonly string[] = ["before-tool", "after-tool"];
const OTHERWISE = ["allow", "ask", "deny"] as const satisfies readonly Otherwise[];
const GUARD_PLACES = ["input", "tool-call", "tool-result", "output"] as const satisfies readonly GuardPlace[];

/** Checks the hooks a caller gave. @throws StartError `invalid-option` naming field, value and remedy. */
export function checkHooks(hooks: unknown, field = "hooks"): asserts hooks is Hooks | undefined {
  if (hooks === undefined) return;
  checkObject(field, hooks);
  checkNames(hooks, POINTS, `${field}.`);
  for (const [point, list] of Object.entries(hooks)) {
    if (list === undefined) continue;
    const name = `${field}[${JSON.stringify(point)}]`;
    checkList(name, list, "functions, or of { tool, timeoutMs, run }");
    for (const [index, hook] of list.entries()) checkHook(`${name}[${index}]`, hook, point);
  }
}

function checkHook(field: string, hook: unknown, point: string): void {
  if (typeof hook === "function") return;
  if (typeof hook !== "object" || hook === null || Array.isArray(hook)) {
    throw refuse(`${field} is ${describeValue(hook)}. Give a function, or { tool, timeoutMs, run }.`);
  }
  checkNames(hook, ["tool", "timeoutMs", "run"], `${field}.`);
  const { tool, timeoutMs, run } = hook as { readonly [name: string]: unknown };
  if (tool !== undefined && !TOOL_POINTS.includes(point)) {
    throw refuse(`${field}.tool is ${describeValue(tool)}, but ${point} is not about tools. Leave it out.`);
  }
  checkToolNames(`${field}.tool`, tool);
  checkTimeout(`${field}.timeoutMs`, timeoutMs);
  checkFunction(`${field}.run`, run);
}

/** Checks permission rules, each of them. @throws StartError `invalid-option` naming field, value and remedy. */
export function checkRules(rules: unknown, field = "permissions"): asserts rules is PermissionRules | undefined {
  if (rules === undefined) return;
  checkObject(field, rules);
  checkNames(rules, ["allow", "deny", "ask", "otherwise"], `${field}.`);
  const { otherwise, ...lists } = rules;
  if (otherwise !== undefined && !(OTHERWISE as readonly unknown[]).includes(otherwise)) {
    throw refuse(`${field}.otherwise is ${describeValue(otherwise)}. Give one of: ${OTHERWISE.join(", ")}.`);
  }
  for (const [name, list] of Object.entries(lists)) {
    if (list === undefined) continue;
    checkList(`${field}.${name}`, list, 'rules such as "Bash(git *)"');
    for (const [index, rule] of list.entries()) {
      if (typeof rule !== "string") {
        throw refuse(
          `${field}.${name}[${index}] is ${describeValue(rule)}. Give a text such as "Bash" or "Bash(git *)".`,
        );
      }
      parseRule(rule);
    }
  }
}

/** Checks a permission callback. @throws StartError `invalid-option` naming field, value and remedy. */
export function checkPermission(
  permission: unknown,
  field = "permission",
): asserts permission is PermissionCallback | undefined {
  if (permission === undefined || typeof permission === "function") return;
  const rules = typeof permission === "object" ? ' Rules ({ allow, deny, ask }) go into "permissions".' : "";
  throw refuse(
    `${field} is ${describeValue(permission)}. Give a function that answers { allow: true }, { allow: false } or "ask".${rules}`,
  );
}

/**
 * Checks guards, and how output is shown while guards look at it: an output guard needs to be told (S4-28), because a
 * guard that sees the text after the reader did is no guard.
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
  checkList(field, guards, "guards: { name, place, check }");
  for (const [index, guard] of guards.entries()) {
    const name = `${field}[${index}]`;
    checkGuard(name, guard);
    if (guard.place !== "output" || outputMode !== undefined) continue;
    throw refuse(
      `${name} ("${guard.name}") guards the output, but the output is streamed: it would be read before the guard has seen it. ` +
        `Set outputMode: "buffer" to show nothing until a whole message has passed, ` +
        `or outputMode: { windowCharacters: 200 } to hold back a piece at a time and show it once it has passed.`,
    );
  }
}

function checkGuard(field: string, guard: unknown): asserts guard is Guard {
  checkObject(field, guard);
  checkNames(guard, ["name", "place", "tool", "timeoutMs", "check"], `${field}.`);
  const { name, place, tool, timeoutMs, check } = guard;
  if (typeof name !== "string" || name === "") {
    throw refuse(`${field}.name is ${describeValue(name)}. Give a name; it stands in events and messages.`);
  }
  if (!(GUARD_PLACES as readonly unknown[]).includes(place)) {
    throw refuse(`${field}.place is ${describeValue(place)}. Give one of: ${GUARD_PLACES.join(", ")}.`);
  }
  if (tool !== undefined && place !== "tool-call" && place !== "tool-result") {
    throw refuse(`${field}.tool is ${describeValue(tool)}, but ${String(place)} is not about tools. Leave it out.`);
  }
  checkToolNames(`${field}.tool`, tool);
  checkTimeout(`${field}.timeoutMs`, timeoutMs);
  checkFunction(`${field}.check`, check);
}

function checkOutputMode(mode: unknown): asserts mode is OutputMode | undefined {
  if (mode === undefined || mode === "buffer") return;
  if (typeof mode === "object" && mode !== null && !Array.isArray(mode)) {
    checkNames(mode, ["windowCharacters"], "outputMode.");
    const { windowCharacters } = mode as { readonly windowCharacters?: unknown };
    if (Number.isInteger(windowCharacters) && (windowCharacters as number) > 0) return;
    throw refuse(`outputMode.windowCharacters is ${describeValue(windowCharacters)}. Give a whole number above 0.`);
  }
  throw refuse(`outputMode is ${describeValue(mode)}. Give "buffer" or { windowCharacters: 200 }.`);
}
