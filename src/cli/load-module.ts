import { pathToFileURL } from "node:url";
import { explainLoad, ignoreSecondReport } from "#runtime";
import { usageError } from "./usage-error.ts";

/** Everything that the module of a flag exports, alone or in lists. `flag` is the flag with its value, for messages. */
export async function loadExports(flag: string, file: string): Promise<readonly unknown[]> {
  const module = await import(pathToFileURL(file).href).catch((error: unknown) => {
    ignoreSecondReport(error);
    throw usageError(`${flag} could not be loaded: ${explainLoad(error, file)}`, error);
  });
  return Object.values(module as Record<string, unknown>).flat();
}
