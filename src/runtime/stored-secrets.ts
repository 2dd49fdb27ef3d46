import { createSecretMask, secretsOfData, secretsOfVariables } from "#secrets";
import type { RunOptions } from "./options.ts";
import { planRun, type Target } from "./plan-run.ts";
import { secretsOfPlan } from "./run-secrets.ts";
import type { World } from "./world.ts";

/**
 * The secrets that must not be stored, whoever writes them: those of the environment, of the options, and of every
 * backend that these targets may use.
 */
export function secretsAround(targets: readonly Target[], options: RunOptions, world: World): readonly string[] {
  const ofPlans = targets.flatMap((target) => {
    try {
      return [...secretsOfPlan(planRun(target, options, world))];
    } catch {
      // It cannot be run either.
      return [];
    }
  });
  return [...new Set([...secretsOfVariables(world.env), ...secretsOfData([options, targets]), ...ofPlans])];
}

/** The same world, in which these count as secrets of every run. */
export function withSecrets(world: World, secrets: readonly string[]): World {
  if (secrets.length === 0) return world;
  const { maskOf = createSecretMask } = world;
  return { ...world, maskOf: (own) => maskOf([...own, ...secrets]) };
}
