import type { Config } from "./config.ts";
import { checkConfig } from "./config-check.ts";

/** Where a mistake stands that `defineConfig` finds: it knows of no file. */
export const DEFINED_BY = "defineConfig";

/**
 * Gives a configuration its type, and checks it. What is wrong in it is named here, and once more with the place in its
 * file when it is loaded.
 *
 * @throws StartError `invalid-config`.
 * @example
 * // millrace.config.ts
 * export const config = defineConfig({ backend: "offline", limits: { turns: 5 } })
 */
export function defineConfig(config: Config): Config {
  return checkConfig(config, () => DEFINED_BY);
}
