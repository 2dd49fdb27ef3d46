import { basename, extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describeThrown, type FileSystem, isStartError, StartError } from "#domain";
import { createSystemFiles, type LookAtFile, lookAtFile } from "#transports";
import { type Config, mergeConfigs } from "./config.ts";
import { checkConfig, type Locate } from "./config-check.ts";
import { fenceConfig } from "./config-fence.ts";
import { findConfigs, type FoundConfig } from "./config-find.ts";
import { lineAndColumn, readJsonPlaces } from "./config-json.ts";
import { openTrustBook, ownConfigFolder, type TrustBook } from "./trust.ts";

/** The names a person's own configuration may have, in the person's own folder. */
const OWN_FILES = ["config.ts", "config.js", "config.mjs", "config.json"];

export interface LoadConfigOptions {
  readonly cwd: string;
  /** This file and no other: whoever names it trusts it. Relative paths start from `cwd`. Default: it is looked for. */
  readonly file?: string | undefined;
  /** Tells where the person's own configuration is, and which keys there are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files?: FileSystem;
  readonly look?: LookAtFile;
  /** Imports a module, by its address. */
  readonly load?: (url: string) => Promise<unknown>;
}

/** A configuration that a project has, and whether it is used. */
export interface ProjectConfig {
  readonly file: string;
  /** `named`: by the caller. `refused`: it is never used; `why` says what is the matter. */
  readonly state: "trusted" | "named" | "unknown" | "changed" | "refused";
  readonly why?: string;
}

export interface LoadedConfig {
  /** The person's own configuration with the project's, as far as that is trusted. */
  readonly config: Config;
  /** The project's file, if it is used. */
  readonly file: string | undefined;
  /** The person's own file, if there is one. */
  readonly ownFile: string | undefined;
  /** What was found in the project, used or not. */
  readonly project: ProjectConfig | undefined;
}

/**
 * Reads and checks the configuration for a folder: the person's own, and the project's if the person trusts that very
 * file. A file that is not trusted is neither run nor read as data.
 *
 * A module exports it as `config` or as its default. Types in `.ts` are stripped by Node itself (22.18 and later).
 *
 * @throws StartError `invalid-config` naming the file, in JSON the line and the column, the field and the remedy.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { env } = options;
  const { ownFile, project } = await inspectConfig(options);
  const own = ownFile === undefined ? {} : await readConfig(ownFile, options);
  if (project === undefined || (project.state !== "trusted" && project.state !== "named")) {
    return { config: own, file: undefined, ownFile, project };
  }
  if (project.file === ownFile) return { config: own, file: undefined, ownFile, project: undefined };
  const folder = ownConfigFolder(env);
  const accept = project.state === "trusted" ? stillTrusted(project.file, options) : undefined;
  const nearer = fenceConfig(await readConfig(project.file, options, accept), {
    file: project.file,
    ownFile: ownFile ?? (folder === undefined ? "your own configuration" : join(folder, "config.json")),
    allowedHosts: own.allowedHosts ?? [],
    env,
  });
  return { config: mergeConfigs(own, nearer), file: project.file, ownFile, project };
}

/** Which configurations there are for a folder, and what the person has said about them. Runs and reads none of them. */
export async function inspectConfig(options: LoadConfigOptions): Promise<Pick<LoadedConfig, "ownFile" | "project">> {
  const { env, files = createSystemFiles() } = options;
  const folder = ownConfigFolder(env);
  return {
    ownFile: folder === undefined ? undefined : await findOwn(folder, files),
    project: await judgeProject(options),
  };
}

/** The book of trusted files of the person whose variables these are. @throws StartError where there is no home. */
export function trustBookOf({ env, files = createSystemFiles() }: Pick<LoadConfigOptions, "env" | "files">): TrustBook {
  const folder = ownConfigFolder(env);
  if (folder !== undefined) return openTrustBook(folder, files);
  throw new StartError(
    "invalid-config",
    "There is no folder to remember trusted files in: neither XDG_CONFIG_HOME nor HOME is set. Set one of them.",
  );
}

/** The project's configuration for a folder, and what the person has said about it. */
async function judgeProject(options: LoadConfigOptions): Promise<ProjectConfig | undefined> {
  const { cwd, env, files = createSystemFiles(), look = lookAtFile } = options;
  if (options.file !== undefined) return { file: resolve(cwd, options.file), state: "named" };
  const found = await findConfigs(cwd, { files, look });
  const folder = ownConfigFolder(env);
  const book = folder === undefined ? undefined : openTrustBook(folder, files);
  const judged: ProjectConfig[] = [];
  for (const one of found) judged.push(await judge(one, book, files));
  const trusted = judged.filter(({ state }) => state === "trusted");
  if (trusted.length > 0 && judged.length > 1) {
    const names = judged.map(({ file }) => basename(file)).join(" and ");
    throw new StartError("invalid-config", `${cwd} has ${names}. Keep one of them, or name the one you mean.`);
  }
  return trusted[0] ?? judged[0];
}

async function judge(found: FoundConfig, book: TrustBook | undefined, files: FileSystem): Promise<ProjectConfig> {
  const { file, refusal } = found;
  if (refusal !== undefined) return { file, state: "refused", why: refusal };
  if (book === undefined) return { file, state: "unknown" };
  // Its bytes are looked at for their digest alone.
  return { file, state: await book.judge(file, await files.read(file)) };
}

async function findOwn(folder: string, files: FileSystem): Promise<string | undefined> {
  const found: string[] = [];
  for (const name of OWN_FILES) if (await files.exists(join(folder, name))) found.push(name);
  if (found.length > 1) {
    throw new StartError("invalid-config", `${folder} has ${found.join(" and ")}. Keep one of them.`);
  }
  return found[0] === undefined ? undefined : join(folder, found[0]);
}

/** Looks at the bytes that are about to be used. @throws StartError when they must not be. */
type Accept = (bytes: Uint8Array) => Promise<void>;

/** Between the judgement and the use a file may change: what is used is judged, and not what was there before. */
function stillTrusted(file: string, options: LoadConfigOptions): Accept {
  return async (bytes) => {
    if ((await trustBookOf(options).judge(file, bytes)) === "trusted") return;
    throw new StartError(
      "invalid-config",
      `${file} changed while it was read, and is not used. Look at it, and say: millrace trust ${JSON.stringify(file)}`,
    );
  };
}

async function readConfig(file: string, options: LoadConfigOptions, accept?: Accept): Promise<Config> {
  const { files = createSystemFiles() } = options;
  const text = await readText(file, files, accept);
  return extname(file) === ".json" ? readJson(file, text) : await readModule(file, options.load);
}

async function readText(file: string, files: FileSystem, accept: Accept | undefined): Promise<string> {
  try {
    const bytes = await files.read(file);
    await accept?.(bytes);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (isStartError(error)) throw error;
    const why = error instanceof TypeError ? "it is not UTF-8" : describeThrown(error);
    throw new StartError("invalid-config", `${file} cannot be read: ${why}. Check the path.`, { cause: error });
  }
}

function readJson(file: string, text: string): Config {
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

async function readModule(file: string, load?: LoadConfigOptions["load"]): Promise<Config> {
  if (!CONFIG_ENDINGS.includes(extname(file))) {
    throw new StartError(
      "invalid-config",
      `${basename(file)} ends in "${extname(file)}". Name it .ts, .js, .mjs or .json.`,
    );
  }
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
