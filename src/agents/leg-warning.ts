import { type Chunk, warningItem } from "#domain";
import { findNeverMatching, findShadowed } from "#policy";
import { HANDOFF_TOOL } from "./handoff.ts";
import type { Leg } from "./leg.ts";

/**
 * Returns warnings about a permission callback that never gets to decide because of a rule, and about rules that never
 * match: both are most likely mistakes (AT-10). `legs`: all agents of the run.
 */
export function warnOfRules({ policy, tools }: Leg, legs: readonly Leg[]): readonly Chunk[] {
  if (policy === undefined) return [];
  return [...findShadowed(policy, tools), ...findNeverMatching(policy.rules, toolNames(legs))].map(warningItem);
}

/** Returns the names of the tools of all agents, or `undefined` if an agent backend brings tools of its own. */
function toolNames(legs: readonly Leg[]): readonly string[] | undefined {
  if (legs.some(({ backend }) => backend.kind === "agent")) return undefined;
  const names = legs.flatMap(({ tools, handoffs }) => [
    ...tools.map(({ name }) => name),
    ...(handoffs === undefined ? [] : [HANDOFF_TOOL]),
  ]);
  return [...new Set(names)];
}

/**
 * Returns warnings about ignored options. Options that the model backend itself ignores are left out, because
 * `announce` warns about them.
 */
export function warnOfIgnored({ backend, ignored = [] }: Leg): readonly Chunk[] {
  const { name } = backend;
  const byTurn: readonly string[] = backend.kind === "model" ? (backend.ignores ?? []) : [];
  return ignored
    .filter(({ option }) => !byTurn.includes(option))
    .map(({ option, reason }) =>
      warningItem({
        code: "option-ignored",
        message: `${option} is ignored on ${name}: ${reason}.`,
        context: { option, backend: name },
      }),
    );
}
