export { checkGuards, checkHooks, checkPermission, checkRules } from "./check-settings.ts";
export { createPolicy } from "./create-policy.ts";
export type { Guard, GuardAnswer, Guarded, GuardPlace, OutputMode } from "./guard.ts";
export type { PathLookup } from "./path-lookup.ts";
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
  Occasion,
  Point,
  Points,
  PromptOccasion,
  RunEndOccasion,
} from "./point.ts";
export { POINTS } from "./point.ts";
export type {
  HookEffects,
  CallToCheck,
  CallVerdict,
  Grant,
  HandoffVerdict,
  OutputGate,
  PolicyContext,
  PolicySettings,
  PromptVerdict,
  ResultVerdict,
  RunPolicy,
  StopVerdict,
} from "./policy.ts";
export { parseRule, type Rule, type RuleScope } from "./rule.ts";
export { concernsCalls, otherwiseOf, strictest } from "./rule-set.ts";
export { findNeverMatching } from "./never-matching.ts";
export { findShadowed } from "./shadowed.ts";
