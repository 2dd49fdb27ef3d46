import type { Config } from "./config.ts";
import { checkConfig } from "./config-check.ts";

/** The position in errors of `defineConfig`, which does not know the file. */
export const DEFINED_BY = "defineConfig";

/**
 * Gives a configuration its type, and checks it. Errors are reported here, and again with the position in the file when
 * the file is loaded.
 *
 * @throws StartError `invalid-config`.
 * @example
 * // millrace.config.ts
 * export const config = defineConfig({ backend: "offline", limits: { turns: 5 } })
 */
export function defineConfig(config: Config): Config {
  return checkConfig(config, () => DEFINED_BY);
}
