import { matchesGlob } from "./matcher.ts";
import type { SeenPaths } from "./path-rules.ts";
import type { Otherwise, PermissionRules } from "./permission.ts";
import type { CallToCheck } from "./policy.ts";
import { isCoveredPath, leadsTo, pathForms, straightUrl } from "./path-match.ts";
import { parseRule, type Rule, type RuleScope } from "./rule.ts";
import { type MatchResult, createShellTarget, isCoveredShell } from "./shell-match.ts";
import { isSearch, type MatchTarget, targetsToAllow, targetsToDeny } from "./match-targets.ts";

/** All rules of a leg. The set a rule came from does not matter: deny wins over ask, ask over allow. */
export interface RuleSet {
  readonly deny: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly allow: readonly Rule[];
  /** What happens to calls that no rule is about. */
  readonly otherwise: Otherwise;
  /** `otherwise` was set explicitly; it is not just the default. */
  readonly hasOtherwise: boolean;
}

/** Parses all sets of rules. @throws StartError `invalid-option` for a rule that cannot be read. */
export function readRules(sets: readonly PermissionRules[]): RuleSet {
  return {
    deny: sets.flatMap(({ deny = [] }) => deny.map(parseRule)),
    ask: sets.flatMap(({ ask = [] }) => ask.map(parseRule)),
    allow: sets.flatMap(({ allow = [] }) => allow.map(parseRule)),
    otherwise: strictest(sets.map(otherwiseOf)),
    hasOtherwise: sets.some(({ otherwise }) => otherwise !== undefined),
  };
}

/** What one set of rules does with calls that none of its rules is about. An empty allow list is an allow list too. */
export function otherwiseOf({ allow, otherwise }: PermissionRules): Otherwise {
  return otherwise ?? (allow === undefined ? "allow" : "ask");
}

/** The strictest of several settings. */
export function strictest(given: readonly Otherwise[]): Otherwise {
  return given.includes("deny") ? "deny" : given.includes("ask") ? "ask" : "allow";
}

/** Whether rules affect tool calls at all. */
export function concernsCalls(rules: PermissionRules): boolean {
  const { deny = [], ask = [], allow, otherwise } = rules;
  return deny.length + ask.length > 0 || allow !== undefined || otherwise !== undefined;
}

/** The rules as they are about one call: those that use another name of its tool are about its name. */
export function rulesFor(rules: RuleSet, { name, otherNames = [] }: Pick<CallToCheck, "name" | "otherNames">): RuleSet {
  if (otherNames.length === 0) return rules;
  const rename = (rule: Rule): Rule =>
    otherNames.some((other) => matchesGlob(rule.name, other)) ? { ...rule, name: [name] } : rule;
  return { ...rules, deny: rules.deny.map(rename), ask: rules.ask.map(rename), allow: rules.allow.map(rename) };
}

/** A rule that a call falls under, or may fall under. */
export interface Hit {
  readonly rule: Rule;
  /** `false`: it cannot be read with certainty what the call does, and the rule may be about it. */
  readonly isCertain: boolean;
}

/** The rule that a call falls under; otherwise the first one that it may fall under. For rules that deny or ask. `json`: the arguments as canonical JSON, if that is known. */
export function findHit(
  rules: readonly Rule[],
  name: string,
  input: unknown,
  seen?: SeenPaths,
  json?: string,
): Hit | undefined {
  const named = rules.filter((rule) => matchesGlob(rule.name, name));
  if (named.length === 0) return undefined;
  const whole = named.find(({ scope }) => scope === undefined);
  if (whole !== undefined) return { rule: whole, isCertain: true };
  const targets = targetsToDeny(name, input, json).map((target) => matchTarget(target, isSearch(name), seen));
  let possible: Rule | undefined;
  for (const rule of named) {
    const { scope } = rule;
    if (scope === undefined) return { rule, isCertain: true };
    const found = targets.map((falls) => falls(rule, scope));
    if (found.includes("certain")) return { rule, isCertain: true };
    if (found.includes("possible")) possible ??= rule;
  }
  return possible && { rule: possible, isCertain: false };
}

/** The rules about this tool whose paths have to be resolved on the disk, with their targets; `undefined`: none. */
export function findPathTargets(set: RuleSet, name: string, input: unknown, json?: string): PathTargets | undefined {
  const rules = rulesAboutText(set, name);
  if (rules.length === 0) return undefined;
  return { rules, targets: [...targetsToDeny(name, input, json), ...targetsToAllow(name, input, json)] };
}

/** Whether a rule about this tool depends on its arguments. */
export function readsArguments(set: RuleSet, name: string): boolean {
  return rulesAboutText(set, name).length > 0;
}

function rulesAboutText(set: RuleSet, name: string): readonly Rule[] {
  return [...set.deny, ...set.ask, ...set.allow].filter(
    ({ name: glob, scope }) => scope?.kind === "text" && matchesGlob(glob, name),
  );
}

export interface PathTargets {
  readonly rules: readonly Rule[];
  readonly targets: readonly MatchTarget[];
}

/**
 * The rules that allow a call, or `undefined`. A rule without an argument pattern is enough. Otherwise everything the
 * call is about has to be covered, by one rule or, for joined commands, by several.
 */
export function findAllowing(
  rules: readonly Rule[],
  name: string,
  input: unknown,
  seen?: SeenPaths,
  json?: string,
): readonly Rule[] | undefined {
  const named = rules.filter((rule) => matchesGlob(rule.name, name));
  const whole = named.find(({ scope }) => scope === undefined);
  if (whole !== undefined) return [whole];
  if (named.length === 0) return undefined;
  const targets = targetsToAllow(name, input, json);
  const one = named.find((rule) => targets.every((target) => isUnder([rule], target, seen)));
  if (one !== undefined) return [one];
  const areCommands = targets.every(({ kind }) => kind === "command");
  return areCommands && targets.every((target) => isUnder(named, target, seen)) ? named : undefined;
}

/** Reads one target in every way it may be meant. For a rule that denies or asks, one match is enough. */
function matchTarget(
  { kind, text }: MatchTarget,
  searches: boolean,
  seen: SeenPaths | undefined,
): (rule: Rule, scope: RuleScope) => MatchResult {
  if (kind === "unread") return () => "possible";
  if (kind === "command") {
    const falls = createShellTarget(text);
    return (_, scope) => (scope.kind === "domain" ? "no" : falls(scope.patterns));
  }
  const texts = kind === "path" ? pathForms(text) : [text, text.trim(), straightUrl(text)];
  return (rule, scope) => {
    // A host that cannot be read may be any host.
    if (scope.kind === "domain") return kind === "url" && leadsTo(scope.host, text) !== false ? "certain" : "no";
    if (scope.patterns.some((glob) => texts.some((form) => matchesGlob(glob, form)))) return "certain";
    if (seen === undefined || kind === "url" || kind === "json") return "no";
    const falls = seen.falls(rule, text, searches);
    // A text that might be a path counts as one only if it certainly leads to a place that a rule is about.
    return kind === "text" && falls === "possible" ? "no" : falls;
  };
}

function isUnder(rules: readonly Rule[], { kind, text }: MatchTarget, seen: SeenPaths | undefined): boolean {
  const scopes = rules.flatMap(({ scope }) => (scope === undefined ? [] : [scope]));
  if (kind === "url" && scopes.some((scope) => scope.kind === "domain" && leadsTo(scope.host, text) === true))
    return true;
  const patterns = scopes.flatMap((scope) => (scope.kind === "text" ? scope.patterns : []));
  switch (kind) {
    case "command":
      return isCoveredShell(patterns, text);
    case "path":
      return seen === undefined ? isCoveredPath(patterns, text) : seen.covers(rules, text);
    case "url":
      return patterns.some((glob) => matchesGlob(glob, straightUrl(text)));
    case "unread":
      return false;
    default:
      if (!patterns.some((glob) => matchesGlob(glob, text))) return false;
      // Even without a path field, a text that can leave its folder may be a path.
      return kind === "json" || seen === undefined || !seen.leaves(text) || seen.covers(rules, text);
  }
}
