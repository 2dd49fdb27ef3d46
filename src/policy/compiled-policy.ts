import { type AbortWatch, createAbortWatch } from "./abort-watch.ts";
import { listGuards, type CompiledGuard } from "./guards.ts";
import type { GuardPlace } from "./guard.ts";
import { PathRules } from "./path-rules.ts";
import type { PermissionCallback } from "./permission.ts";
import type { PolicyContext, PolicySettings } from "./policy.ts";
import type { Occasion } from "./point.ts";
import { readRules, type RuleSet } from "./rule-set.ts";
import { type HookTable, listHooks } from "./run-hooks.ts";

/** The settings of one leg, parsed once, and the run they apply to. */
export interface CompiledPolicy {
  readonly hooks: HookTable;
  readonly rules: RuleSet;
  readonly permission: PermissionCallback | undefined;
  readonly permissionMs: number | undefined;
  readonly guards: { readonly [Place in GuardPlace]: readonly CompiledGuard[] };
  readonly place: PolicyContext;
  /** `undefined` if no access to the file system was given. */
  readonly paths: PathRules | undefined;
  readonly watch: AbortWatch;
}

export function compilePolicy(settings: PolicySettings, place: PolicyContext): CompiledPolicy {
  const guards = listGuards(settings.guards);
  const at = (wanted: GuardPlace): readonly CompiledGuard[] => guards.filter((guard) => guard.place === wanted);
  return {
    hooks: listHooks(settings.hooks),
    rules: readRules(settings.rules),
    permission: settings.permission,
    permissionMs: settings.permissionMs,
    guards: {
      input: at("input"),
      "tool-call": at("tool-call"),
      "tool-result": at("tool-result"),
      output: at("output"),
    },
    place,
    paths: place.paths === undefined ? undefined : new PathRules(place.paths),
    watch: createAbortWatch(place.signal),
  };
}

/** The fields common to all hooks. */
export function occasionOf({ runId, agent, context }: PolicyContext, signal: AbortSignal): Occasion {
  return { runId, agent, context, signal };
}
