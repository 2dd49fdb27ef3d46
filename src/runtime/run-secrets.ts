import type { RunPlan } from "#agents";
import { coverThrown } from "#backends";
import { createSecretMask, type SecretMask, secretsOfData, secretsOfVariables } from "#secrets";

/** Makes masks, and remembers the last ones: runs that follow each other have the same secrets. */
export type MaskSource = (secrets: readonly string[]) => SecretMask | undefined;

/** So many masks are remembered. */
const REMEMBERED = 16;

/** Creates what makes the masks of many runs. */
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

/** The mask of a plan's secrets; `undefined` without any. */
export function maskOfPlan(
  plan: Pick<RunPlan, "legs">,
  { maskOf = createSecretMask }: { readonly maskOf?: MaskSource | undefined },
): SecretMask | undefined {
  return maskOf(secretsOfPlan(plan));
}

/** What must not be shown of a run: the secrets of every backend that may take part in it. */
function secretsOfPlan({ legs }: Pick<RunPlan, "legs">): readonly string[] {
  const secrets = new Set<string>();
  for (const { backend, fallback = [], place } of legs) {
    for (const one of [backend, ...fallback]) {
      for (const secret of one.secrets?.(place?.env ?? {}) ?? []) secrets.add(secret);
    }
  }
  return [...secrets];
}

/** Where the secrets of the environment come from. */
interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Does what a caller asked for, and covers the secrets of what was given and of the environment in a `StartError` of
 * it: messages name the value that was wrong, and a key may be part of it.
 */
export function coverStartErrors<Value>(given: unknown, world: Variables, act: () => Value): Value {
  try {
    return act();
  } catch (thrown) {
    throw coverStartError(thrown, given, world);
  }
}

/** The same for what was thrown already. */
export function coverStartError(thrown: unknown, given: unknown, { env }: Variables): unknown {
  const mask = createSecretMask([...secretsOfVariables(env), ...secretsOfData(given)]);
  return mask === undefined ? thrown : coverThrown(thrown, (value) => mask.value(value));
}
