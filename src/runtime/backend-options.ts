import type { ModelBackend } from "#backends";
import { describeValue, type Fetch, StartError } from "#domain";
import { checkProvider } from "./check-options.ts";
import { PROVIDER_OPTION_NAMES, type ProviderName, type ProviderOptions } from "./options.ts";
import { makeBackend } from "./providers.ts";
import { coverStartErrors } from "./run-secrets.ts";
import { systemWorld, type World } from "./world.ts";

/** The options of a backend that is made by hand. What is left out comes from the provider's usual variables. */
export interface BackendOptions extends ProviderOptions {
  /** The model's name, as the provider writes it. */
  readonly model: string;
  /** Makes the HTTP exchanges instead of Node's own sockets: for proxies and for tests. */
  readonly fetch?: Fetch;
}

const BACKEND_OPTION_NAMES = [
  "model",
  "fetch",
  ...PROVIDER_OPTION_NAMES,
] as const satisfies readonly (keyof BackendOptions)[];

/** Makes a provider's backend from typed options. @throws StartError when an option is wrong or the key is missing. */
export function createProviderBackend(name: ProviderName, options: BackendOptions): ModelBackend {
  return coverStartErrors(options, systemWorld(), () => {
    checkBackendOptions(name, options, BACKEND_OPTION_NAMES);
    return makeBackend(name, options.model, options, worldFor(options));
  });
}

export function checkBackendOptions(name: string, options: BackendOptions, known: readonly string[]): void {
  if (typeof options !== "object" || options === null) {
    throw new StartError("invalid-option", `${name}: the options are ${describeValue(options)}. Give { model }.`);
  }
  checkProvider(name, options, known);
  if (typeof options.model !== "string" || options.model.trim() === "") {
    throw new StartError("invalid-option", `${name}.model is ${describeValue(options.model)}. Give the model's name.`);
  }
  if (options.fetch !== undefined && typeof options.fetch !== "function") {
    throw new StartError("invalid-option", `${name}.fetch is ${describeValue(options.fetch)}. Give a function.`);
  }
}

export function worldFor({ fetch }: Pick<BackendOptions, "fetch">): World {
  const world = systemWorld();
  return fetch === undefined ? world : { ...world, fetch };
}
