import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isStartError, StartError } from "#domain";
import { formatRegistry } from "#runtime";
import { parseJsonFile } from "./read-input.ts";

/**
 * Finds a format by name, or reads a declarative one from a `.json` file. @throws StartError naming the file or the
 * nearest name.
 */
export async function findFormat(name: string, io: { readonly cwd: string }) {
  const registry = formatRegistry();
  if (!name.endsWith(".json")) return registry.require(name);
  const file = resolve(io.cwd, name);
  const text = await readFile(file, "utf8").catch((error) => {
    throw new StartError(
      "unknown-format",
      `The format file ${file} cannot be read. Give a format's name, or its .json file.`,
      {
        cause: error,
      },
    );
  });
  parseJsonFile(name, text);
  try {
    return registry.registerConfig(text);
  } catch (error) {
    throw isStartError(error) ? new StartError(error.code, `${name}: ${error.message}`, { cause: error }) : error;
  }
}
