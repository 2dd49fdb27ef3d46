import type { ModelBackend } from "#backends";
import { nearestName, StartError } from "#domain";
import { createOfflineBackend } from "./offline.ts";
import { PROVIDER_NAMES, type ProviderName, type RunOptions } from "./options.ts";
import { makeBackend, PROVIDERS } from "./providers.ts";
import type { World } from "./world.ts";

/** The names a backend string may begin with. */
export const BACKEND_NAMES: readonly string[] = ["offline", ...PROVIDER_NAMES];

/**
 * Makes the backend a string names: `provider/model`, or `provider` for its default model.
 *
 * @throws StartError `unknown-backend`, `missing-key` or `invalid-option`, naming the variable or the nearest name.
 */
export function resolveBackend(text: string, settings: Pick<RunOptions, ProviderName>, world: World): ModelBackend {
  const slash = text.indexOf("/");
  const name = slash === -1 ? text : text.slice(0, slash);
  const given = slash === -1 ? "" : text.slice(slash + 1);
  if (name === "offline") return createOfflineBackend(given, world);
  const provider = PROVIDER_NAMES.find((known) => known === name);
  if (provider === undefined) throw unknownBackend(text, name);
  const model = given === "" ? PROVIDERS[provider].defaultModel : given;
  if (model === undefined) {
    throw new StartError(
      "unknown-backend",
      `The backend "${text}" names no model. Write ${name}/<model>; ${name} has no default one.`,
    );
  }
  return makeBackend(provider, model, settings[provider] ?? {}, world);
}

function unknownBackend(text: string, name: string): StartError {
  const near = nearestName(name, BACKEND_NAMES);
  const guess = near === undefined ? "" : ` Did you mean "${near}"?`;
  const shown = text.length <= 80 ? text : `${text.slice(0, 79)}…`;
  return new StartError(
    "unknown-backend",
    `There is no backend "${shown}".${guess} Known are: ${BACKEND_NAMES.join(", ")}, each followed by /<model>.`,
  );
}
