import { homedir } from "node:os";
import { basename, dirname, extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describeThrown, type FileSystem, StartError } from "#domain";
import { createSystemFiles } from "#transports";
import type { Config } from "./config.ts";
import { checkConfig, type Locate } from "./config-check.ts";
import { lineAndColumn, readJsonPlaces } from "./config-json.ts";

/** The names a configuration may have, the first one first. */
export const CONFIG_FILES = ["millrace.config.ts", "millrace.config.js", "millrace.config.mjs", "millrace.config.json"];

export interface LoadConfigOptions {
  readonly cwd: string;
  /** This file and no other. Relative paths start from `cwd`. Default: it is looked for. */
  readonly file?: string | undefined;
  readonly files?: FileSystem;
  readonly home?: string;
  /** Imports a module, by its address. */
  readonly load?: (url: string) => Promise<unknown>;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Where it was found; missing when there is none. */
  readonly file: string | undefined;
}

/**
 * Reads and checks the configuration of a folder: the nearest `millrace.config.{ts,js,mjs,json}` from there upwards, up
 * to the folder of the repository or the home folder. Without one the configuration is empty.
 *
 * A module exports it as `config` or as its default. Types in `.ts` are stripped by Node itself (22.18 and later).
 *
 * @throws StartError `invalid-config` naming the file, in JSON the line and the column, the field and the remedy.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const files = options.files ?? createSystemFiles();
  const file =
    options.file === undefined
      ? await findConfig(options.cwd, files, options.home ?? homedir())
      : resolve(options.cwd, options.file);
  if (file === undefined) return { config: {}, file };
  const config = extname(file) === ".json" ? await readJson(file, files) : await readModule(file, files, options.load);
  return { config, file };
}

async function findConfig(cwd: string, files: FileSystem, home: string): Promise<string | undefined> {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const found: string[] = [];
    for (const name of CONFIG_FILES) if (await files.exists(join(folder, name))) found.push(name);
    if (found.length > 1) {
      throw new StartError(
        "invalid-config",
        `${folder} has ${found.join(" and ")}. Keep one of them, or name the one you mean.`,
      );
    }
    if (found[0] !== undefined) return join(folder, found[0]);
    // What lies further up belongs to somebody else.
    const isBorder = folder === resolve(home) || (await files.exists(join(folder, ".git")));
    if (isBorder || folder === dirname(folder)) return undefined;
  }
}

async function readText(file: string, files: FileSystem): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await files.read(file));
  } catch (error) {
    const why = error instanceof TypeError ? "it is not UTF-8" : describeThrown(error);
    throw new StartError("invalid-config", `${file} cannot be read: ${why}. Check the path.`, { cause: error });
  }
}

async function readJson(file: string, files: FileSystem): Promise<Config> {
  const text = await readText(file, files);
  const read = readJsonPlaces(text);
  const at = (offset: number): string => {
    const { line, column } = lineAndColumn(text, offset);
    return `${file}:${line}:${column}`;
  };
  if (read.fault !== undefined) {
    throw new StartError("invalid-config", `${at(read.offset)}: this is not JSON: ${read.fault}. Correct it there.`);
  }
  const locate: Locate = (field) => {
    const offset = field === "" ? undefined : read.places.get(field);
    return offset === undefined ? file : at(offset);
  };
  return checkConfig(read.value, locate);
}

async function readModule(file: string, files: FileSystem, load?: LoadConfigOptions["load"]): Promise<Config> {
  if (!CONFIG_ENDINGS.includes(extname(file))) {
    throw new StartError(
      "invalid-config",
      `${basename(file)} ends in "${extname(file)}". Name it .ts, .js, .mjs or .json.`,
    );
  }
  await readText(file, files);
  let module: unknown;
  try {
    module = await (load ?? importModule)(pathToFileURL(file).href);
  } catch (error) {
    throw new StartError("invalid-config", `${file} could not be loaded: ${explainLoad(error, file)}`, {
      cause: error,
    });
  }
  const { config, default: other } = module as { readonly config?: unknown; readonly default?: unknown };
  const exported = config ?? other;
  if (exported === undefined) {
    throw new StartError(
      "invalid-config",
      `${file} exports no configuration. Write: export const config = defineConfig({ … }).`,
    );
  }
  return checkConfig(exported, () => file);
}

const CONFIG_ENDINGS = [".ts", ".mts", ".js", ".mjs"];

const importModule = (url: string): Promise<unknown> => import(url);

function explainLoad(error: unknown, file: string): string {
  const { code } = error as { readonly code?: unknown };
  if (code === "ERR_UNKNOWN_FILE_EXTENSION" || code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") {
    return (
      `Node ${process.versions.node} cannot read TypeScript${code === "ERR_UNKNOWN_FILE_EXTENSION" ? "" : " that is more than types"}. ` +
      `Use Node 22.18 or later, or write it as ${basename(file).replace(/\.m?ts$/, ".mjs")} or .json.`
    );
  }
  const hint = error instanceof SyntaxError ? ` (node --check ${file} shows where)` : "";
  return `${describeThrown(error)}${hint}`;
}
