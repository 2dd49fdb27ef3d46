import type { RunOptions, World } from "#runtime";
import { createSecretMask, type SecretMask, secretsOfData, secretsOfVariables } from "#secrets";

/** What covers the secrets of a server: its tokens, those of its environment, and the keys its runs are given. */
export function createServerMask(
  tokens: readonly string[],
  run: RunOptions,
  world: Pick<World, "env">,
): SecretMask | undefined {
  return createSecretMask([...tokens, ...secretsOfVariables(world.env), ...secretsOfData(run)]);
}

/** The same world, in which a server's tokens are secrets of every run. */
export function withTokens(world: World, tokens: readonly string[]): World {
  if (tokens.length === 0) return world;
  const { maskOf = createSecretMask } = world;
  return { ...world, maskOf: (secrets) => maskOf([...secrets, ...tokens]) };
}
