import { nearestName, type WarningDetail } from "#domain";
import { matchesGlob } from "./matcher.ts";
import type { PermissionRules } from "./permission.ts";
import type { Rule } from "./rule.ts";
import { readRules } from "./rule-set.ts";

/**
 * Finds rules that can never apply: they name no tool of the run, or another rule already decides all the calls they
 * are about. This is most likely a mistake, and a dangerous one if the rule was meant to deny something.
 *
 * `tools`: the names of all tools of the run; `undefined` when an agent has tools that are not known here.
 */
export function findNeverMatching(
  sets: readonly PermissionRules[],
  tools: readonly string[] | undefined,
): readonly WarningDetail[] {
  const { deny, ask, allow } = readRules(sets);
  const warnings = [...deny, ...ask, ...allow].flatMap((rule) => nameProblem(rule, tools));
  const shadowed = [
    ...ask.flatMap((rule) => shadowProblem(rule, deny, "denies")),
    ...allow.flatMap((rule) => shadowProblem(rule, deny, "denies")),
    ...allow.flatMap((rule) => shadowProblem(rule, ask, "asks about")),
  ];
  const seen = new Set<string>();
  return [...warnings, ...shadowed].filter(({ message }) => !seen.has(message) && seen.add(message));
}

function nameProblem({ text, name }: Rule, tools: readonly string[] | undefined): readonly WarningDetail[] {
  if (tools === undefined || tools.some((tool) => matchesGlob(name, tool))) return [];
  const near = nearestName(name.join("*"), tools);
  const known = tools.length === 0 ? "There are none." : `There are: ${tools.join(", ")}.`;
  return [warning(text, `names no tool of this run. ${near === undefined ? known : `Did you mean "${near}"?`}`)];
}

/** Finds a rule without an argument pattern that always wins over this one. */
function shadowProblem(rule: Rule, winners: readonly Rule[], does: string): readonly WarningDetail[] {
  const winner = winners.find(({ scope, name }) => scope === undefined && matchesGlob(name, rule.name.join("*")));
  if (winner === undefined) return [];
  return [warning(rule.text, `is about calls that the rule "${winner.text}" ${does} already. Take one of them out.`)];
}

function warning(rule: string, problem: string): WarningDetail {
  return {
    code: "rule-never-matches",
    message: `The permission rule "${rule}" can never apply: it ${problem}`,
    context: { rule },
  };
}
