import type { Clock, NextTurn } from "#domain";
import type { AbortWatch } from "./abort-watch.ts";
import { callWithLimit, limitOf } from "./call-with-limit.ts";
import { notJson, readHookAnswer } from "./hook-answer.ts";
import { copyJson, isLargeJson } from "./large-json.ts";
import { tryCopy } from "./json-copy.ts";
import { createNameMatcher } from "./matcher.ts";
import type { HookAnswer, HookEntry, HookFunction, Hooks, Point, Points } from "./point.ts";
import { POINTS } from "./point.ts";
import type { CallToCheck } from "./policy.ts";

/** A hook with its defaults filled in. `index` counts over all hooks of its point, the run's before the agent's. */
export interface CompiledHook<Name extends Point> {
  readonly index: number;
  readonly matches: (tool: string) => boolean;
  readonly limitMs: number;
  readonly run: HookFunction<Name>;
}

export type HookTable = { readonly [Name in Point]: readonly CompiledHook<Name>[] };

/** The outcome of one hook. */
export type HookOutcome =
  | { readonly kind: "answered"; readonly answer: HookAnswer }
  | { readonly kind: "failed"; readonly index: number; readonly why: string }
  | { readonly kind: "aborted" };

/** Merges the hooks of the run and of the agent, point by point. */
export function listHooks(sets: readonly Hooks[]): HookTable {
  const table = Object.fromEntries(POINTS.map((point) => [point, listPoint(sets, point)]));
  return table as unknown as HookTable;
}

function listPoint<Name extends Point>(sets: readonly Hooks[], point: Name): readonly CompiledHook<Name>[] {
  const given = sets.flatMap((hooks) => (hooks[point] ?? []) as readonly (HookFunction<Name> | HookEntry<Name>)[]);
  return given.map((hook, index) => {
    const entry: HookEntry<Name> = typeof hook === "function" ? { run: hook } : hook;
    return {
      index,
      matches: createNameMatcher(entry.tool),
      limitMs: limitOf(entry.timeoutMs),
      run: (occasion) => entry.run(occasion),
    };
  });
}

/** Selects the hooks or guards that are about a call, by any name of its tool. */
export function isAbout({
  name,
  otherNames = [],
}: CallToCheck): (one: Pick<CompiledHook<Point>, "matches">) => boolean {
  return ({ matches }) => [name, ...otherNames].some(matches);
}

export interface HookRun<Name extends Point> {
  readonly point: Name;
  readonly hooks: readonly CompiledHook<Name>[];
  /** Creates the occasion. Called once per hook, so that hooks share no values. */
  readonly occasion: (signal: AbortSignal) => Points[Name];
  /** Absent where hooks also run after an abort. */
  readonly watch: AbortWatch | undefined;
  readonly clock: Clock;
  readonly nextTurn?: NextTurn | undefined;
  /** Caps every hook's time limit. */
  readonly longestMs?: number | undefined;
}

/** Runs hooks at the same time. Returns one outcome each, in the order of the list, whichever finishes first. */
export function runHooks<Name extends Point>(run: HookRun<Name>): Promise<readonly HookOutcome[]> {
  return Promise.all(run.hooks.map((hook) => runHook(hook, run)));
}

async function runHook<Name extends Point>(hook: CompiledHook<Name>, run: HookRun<Name>): Promise<HookOutcome> {
  const consulted = await callWithLimit({
    start: (signal) => hook.run(run.occasion(signal)),
    limitMs: Math.min(hook.limitMs, run.longestMs ?? hook.limitMs),
    watch: run.watch,
    clock: run.clock,
  });
  if (consulted.kind === "aborted") return consulted;
  if (consulted.kind === "failed") return { kind: "failed", index: hook.index, why: consulted.why };
  const { nextTurn } = run;
  const isCopiedLater = (value: unknown): boolean => nextTurn !== undefined && isLargeJson(value);
  const read = readHookAnswer(run.point, consulted.value, (value) => (isCopiedLater(value) ? value : tryCopy(value)));
  if (!read.fits) return { kind: "failed", index: hook.index, why: read.wrong };
  const answer: { -readonly [Name in keyof HookAnswer]: HookAnswer[Name] } = { ...read.answer };
  for (const name of ["input", "output"] as const) {
    if (!isCopiedLater(answer[name])) continue;
    answer[name] = await copyJson(answer[name], nextTurn);
    if (answer[name] === undefined) return { kind: "failed", index: hook.index, why: notJson(name) };
  }
  return { kind: "answered", answer };
}
