import type { ModelBackend } from "#backends";
import { aFunction, type Check, checkInput, expects, type Fetch } from "#domain";
import { checkProvider } from "./check-options.ts";
import type { ProviderName, ProviderOptions } from "./options.ts";
import { makeBackend } from "./providers.ts";
import { coverStartErrors } from "./run-secrets.ts";
import { systemWorld, type World } from "./world.ts";

/** The options of a backend that is made by hand. Values that are left out come from the provider's usual variables. */
export interface BackendOptions extends ProviderOptions {
  /** The model's name, as the provider spells it. */
  readonly model: string;
  /** Makes the HTTP exchanges instead of Node's own sockets; for proxies and tests. */
  readonly fetch?: Fetch;
}

const aModel = expects((value) => typeof value === "string" && value.trim() !== "", "the model's name");

/**
 * Creates a provider's backend from typed options.
 * @throws StartError when an option is wrong or the key is missing.
 */
export function createProviderBackend(name: ProviderName, options: BackendOptions): ModelBackend {
  return coverStartErrors(options, systemWorld(), () => {
    checkBackendOptions(name, options);
    return makeBackend(name, options.model, options, worldFor(options));
  });
}

/** Checks typed options; `besides` are the checks of options that only this kind of backend has. */
export function checkBackendOptions(
  name: string,
  options: BackendOptions,
  besides?: Readonly<Record<string, Check>>,
): void {
  checkInput(
    expects((value) => typeof value === "object" && value !== null, "{ model }"),
    options,
    `${name}: the option list`,
  );
  checkProvider(name, options, { model: aModel, fetch: aFunction, ...besides });
  checkInput(aModel, options.model, `${name}.model`);
}

export function worldFor({ fetch }: Pick<BackendOptions, "fetch">): World {
  const world = systemWorld();
  return fetch === undefined ? world : { ...world, fetch };
}
