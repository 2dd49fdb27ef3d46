import { pathToFileURL } from "node:url";
import { describeThrown } from "#domain";
import { usageError } from "./usage-error.ts";

/** Everything that the module of a flag exports, alone or in lists. `flag` is the flag with its value, for messages. */
export async function loadExports(flag: string, file: string): Promise<readonly unknown[]> {
  const module = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw usageError(`${flag} could not be loaded: ${describeFault(error, file)}`, error);
  });
  return Object.values(module as Record<string, unknown>).flat();
}

/** Node tells the place of a syntax error only to a terminal, so the way to see it is named. */
function describeFault(error: unknown, file: string): string {
  const fault = describeThrown(error);
  return error instanceof SyntaxError ? `${fault} (node --check ${file} shows where)` : fault;
}
