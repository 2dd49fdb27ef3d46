import type { RunPlan } from "#agents";
import { coverThrown } from "#backends";
import { createSecretMask, type SecretMask, secretsOfData, secretsOfVariables } from "#secrets";
import type { Agent } from "./agent.ts";
import { agentOf } from "./agent-tool.ts";

/** Creates masks, and caches the last ones: successive runs usually have the same secrets. */
export type MaskSource = (secrets: readonly string[]) => SecretMask | undefined;

/** How many masks are cached. */
const REMEMBERED = 16;

/** Creates the source of masks for many runs. */
export function createMaskSource(): MaskSource {
  const known = new Map<string, SecretMask | undefined>();
  return (secrets) => {
    const key = JSON.stringify(secrets);
    if (known.has(key)) return known.get(key);
    const mask = createSecretMask(secrets);
    const [oldest] = known.keys();
    if (known.size >= REMEMBERED && oldest !== undefined) known.delete(oldest);
    known.set(key, mask);
    return mask;
  };
}

type Planned = Pick<RunPlan, "legs" | "planNested">;

/** The mask for the secrets of a plan; `undefined` if it has none. */
export function maskOfPlan(
  plan: Planned,
  { maskOf = createSecretMask }: { readonly maskOf?: MaskSource | undefined },
): SecretMask | undefined {
  return maskOf([...secretsOfPlan(plan)]);
}

/** The secrets of a run: those of every backend that may take part in it, those of agents that are tools included. */
export function secretsOfPlan(plan: Planned, seen = new Set<Agent>()): ReadonlySet<string> {
  const secrets = new Set<string>();
  for (const { backend, fallback = [], place, tools } of plan.legs) {
    for (const one of [backend, ...fallback]) {
      for (const secret of one.secrets?.(place?.env ?? {}) ?? []) secrets.add(secret);
    }
    for (const { run } of tools) {
      const one = agentOf(run);
      // Agents may be tools of each other.
      if (one === undefined || seen.has(one)) continue;
      seen.add(one);
      const nested = planOfAgent(one, plan);
      if (nested !== undefined) for (const secret of secretsOfPlan(nested, seen)) secrets.add(secret);
    }
  }
  return secrets;
}

/** The plan of an agent that a tool runs. One that cannot be planned fails when the tool is called, without a secret. */
function planOfAgent(one: Agent, { planNested }: Planned): RunPlan | undefined {
  try {
    return planNested?.(one);
  } catch {
    return undefined;
  }
}

/** The environment, which may contain secrets. */
interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Calls `act` and masks the secrets of `given` and of the environment in a `StartError` it throws: messages show the
 * invalid value, and a key may be part of it.
 */
export function coverStartErrors<Value>(given: unknown, world: Variables, act: () => Value): Value {
  try {
    return act();
  } catch (thrown) {
    throw coverStartError(thrown, given, world);
  }
}

function maskOfGiven(given: unknown, { env }: Variables): SecretMask | undefined {
  return createSecretMask([...secretsOfVariables(env), ...secretsOfData(given)]);
}

/** The same for an error that was already thrown. */
export function coverStartError(thrown: unknown, given: unknown, world: Variables): unknown {
  const mask = maskOfGiven(given, world);
  return mask === undefined ? thrown : coverThrown(thrown, (value) => mask.value(value));
}
