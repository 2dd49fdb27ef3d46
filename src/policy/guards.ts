import { noticeItem, present, warningItem } from "#domain";
import type { AbortWatch } from "./abort-watch.ts";
import { callWithLimit, limitOf } from "./call-with-limit.ts";
import type { Guard, Guarded, GuardPlace } from "./guard.ts";
import { tryCopy } from "./json-copy.ts";
import { copyJson } from "./large-json.ts";
import { createNameMatcher } from "./matcher.ts";
import type { PolicyContext } from "./policy.ts";
import { kindOf, type Read, readFields } from "./read-answer.ts";

/** A guard with its defaults filled in and its tool pattern parsed. */
export interface CompiledGuard {
  readonly name: string;
  readonly place: GuardPlace;
  readonly matches: (tool: string) => boolean;
  readonly limitMs: number;
  readonly check: Guard["check"];
}

/** The content to check: text for input and output, a JSON value for tools. */
export interface Content {
  readonly value: unknown;
  readonly name?: string | undefined;
  readonly callId?: string | undefined;
  readonly before?: string | undefined;
}

/** The run that the guards belong to. */
export interface GuardContext {
  readonly place: PolicyContext;
  readonly watch: AbortWatch;
}

export type GuardsVerdict =
  | { readonly kind: "passed"; readonly value: unknown; readonly isReplaced: boolean }
  | { readonly kind: "denied"; readonly guard: string; readonly reason: string }
  | { readonly kind: "aborted" };

export function listGuards(guards: readonly Guard[]): readonly CompiledGuard[] {
  return guards.map((guard) => ({
    name: guard.name,
    place: guard.place,
    matches: createNameMatcher(guard.tool),
    limitMs: limitOf(guard.timeoutMs),
    // Called as a method, because the guard may be an object with state.
    check: (content) => guard.check(content),
  }));
}

/**
 * Passes content to guards one after the other; each receives what the previous one returned. The first denial ends the
 * sequence; a guard that fails denies. `content.value` must not be shared with others: the value that passes is
 * returned as it is.
 */
export async function runGuards(
  guards: readonly CompiledGuard[],
  content: Content,
  { place, watch }: GuardContext,
): Promise<GuardsVerdict> {
  let { value } = content;
  let isReplaced = false;
  for (const guard of guards) {
    const current = { ...content, value };
    const copy = isForTool(guard.place) ? await copyJson(value, place.nextTurn) : undefined;
    const consulted = await callWithLimit({
      start: (signal) => guard.check(guarded(guard, current, { copy, place, signal })),
      limitMs: guard.limitMs,
      watch,
      clock: place.clock,
    });
    if (consulted.kind === "aborted") return consulted;
    const read = consulted.kind === "failed" ? misread(consulted.why) : readGuardAnswer(guard.place, consulted.value);
    if (!read.fits) return denyFailed(guard, read.wrong, place);
    const answer = read.answer;
    if (answer.kind === "deny") return { kind: "denied", guard: guard.name, reason: answer.reason };
    if (answer.kind === "pass") continue;
    value = answer.value;
    isReplaced = true;
    place.write([
      noticeItem("guard", { guard: guard.name, place: guard.place, action: "replace", ...toolOf(content) }),
    ]);
  }
  return { kind: "passed", value, isReplaced };
}

/** A guard that fails denies, with a warning: without one, the denial would look like a decision. */
function denyFailed({ name, place: at }: CompiledGuard, why: string, place: PolicyContext): GuardsVerdict {
  const reason = `The guard "${name}" ${why}.`;
  const context = { guard: name, place: at, why };
  place.write([warningItem({ code: "guard-failed", message: `${reason} The content it checked is denied.`, context })]);
  return { kind: "denied", guard: name, reason };
}

/** The fields of a guard's notice that name the tool. */
export function toolOf({ callId, name }: Content): object {
  return present({ callId, name });
}

function isForTool(place: GuardPlace): boolean {
  return place === "tool-call" || place === "tool-result";
}

function guarded(
  guard: CompiledGuard,
  { value, name, callId, before = "" }: Content,
  { copy, place, signal }: { readonly copy: unknown; readonly place: PolicyContext; readonly signal: AbortSignal },
): Guarded {
  return {
    place: guard.place,
    text: typeof value === "string" ? value : (JSON.stringify(value) ?? ""),
    value: copy,
    name,
    callId,
    runId: place.runId,
    agent: place.agent,
    context: place.context,
    before,
    signal,
  };
}

type Answer =
  | { readonly kind: "pass" }
  | { readonly kind: "deny"; readonly reason: string }
  | { readonly kind: "replace"; readonly value: unknown };

function readGuardAnswer(place: GuardPlace, value: unknown): Read<Answer> {
  if (value === undefined) return { fits: true, answer: { kind: "pass" } };
  const fields = readFields(value);
  if (!fields.fits) return fields;
  const [field, ...more] = fields.answer;
  if (field === undefined || more.length > 0) return misread('answered with neither "deny" nor "replace" alone');
  const [name, given] = field;
  if (name === "deny") {
    return typeof given === "string"
      ? { fits: true, answer: { kind: "deny", reason: given } }
      : misread(`answered with ${kindOf(given)} as "deny", which takes a string`);
  }
  if (name !== "replace") return misread(`answered with "${name}"; it may answer deny or replace`);
  const isText = place === "input" || place === "output";
  if (isText && typeof given !== "string") {
    return misread(`answered with ${kindOf(given)} as "replace", which takes a string here`);
  }
  const copy = tryCopy(given);
  return copy === undefined
    ? misread('answered with a "replace" that is not JSON')
    : { fits: true, answer: { kind: "replace", value: copy } };
}

function misread(wrong: string): { readonly fits: false; readonly wrong: string } {
  return { fits: false, wrong };
}
