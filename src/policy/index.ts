export { checkGuards, checkHooks, checkPermission, checkRules } from "./check-settings.ts";
export { createPolicy } from "./create-policy.ts";
export type { Guard, GuardAnswer, Guarded, GuardPlace, OutputMode } from "./guard.ts";
export { findReal, type PathLookup, seePath } from "./path-lookup.ts";
export type { Decision, Otherwise, PermissionCallback, PermissionRequest, PermissionRules } from "./permission.ts";
export type {
  AfterToolOccasion,
  BeforeStopOccasion,
  BeforeToolOccasion,
  HandoffOccasion,
  HookAnswer,
  HookEntry,
  HookFunction,
  Hooks,
  Point,
  PromptOccasion,
  RunEndOccasion,
} from "./point.ts";
export type { HookEffects, CallToCheck, CallVerdict, OutputGate, PolicySettings, RunPolicy } from "./policy.ts";
export { concernsCalls, otherwiseOf, strictest } from "./rule-set.ts";
export { findNeverMatching } from "./never-matching.ts";
export { findShadowed } from "./shadowed.ts";
