import { basename, extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describeReadFailure, type FileSystem, isStartError, StartError } from "#domain";
import { createSystemFiles, type LookAtFile, lookAtFile } from "#transports";
import { type Config, mergeConfigs } from "./config.ts";
import { checkConfig, type Locate } from "./config-check.ts";
import { DEFINED_BY } from "./define-config.ts";
import { limitProjectConfig } from "./config-project-limits.ts";
import { findConfigs, type FoundConfig } from "./config-find.ts";
import { lineAndColumn, readJsonPlaces } from "./config-json.ts";
import { importGuarded } from "./config-guard.ts";
import { type AccountHome, findOwnFolder, OWN_FILES, type RefusedOwn } from "./config-own.ts";
import { readReach } from "./config-reach.ts";
import { openTrustList, type TrustList } from "./trust.ts";
import { explainLoad, ignoreSecondReport } from "./explain-load.ts";

export interface LoadConfigOptions {
  readonly cwd: string;
  /** The only file to use; naming it means trusting it. Relative to `cwd`. Default: the file is searched for. */
  readonly file?: string | undefined;
  /** Determines where the person's own configuration is, and which keys are set. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files?: FileSystem;
  readonly look?: LookAtFile;
  readonly account?: AccountHome;
  /** Imports a module by its URL. */
  readonly load?: (url: string) => Promise<unknown>;
}

/** A project's configuration, and whether it is used. */
export interface ProjectConfig {
  readonly file: string;
  /** `named`: given by the caller. `refused`: never used; `why` gives the reason. */
  readonly state: "trusted" | "named" | "unknown" | "changed" | "refused";
  readonly why?: string;
}

export interface LoadedConfig {
  /** The person's own configuration merged with the project's, if that is trusted. */
  readonly config: Config;
  /** The project's file, if it is used. */
  readonly file: string | undefined;
  /** The person's own file, if there is one. */
  readonly ownFile: string | undefined;
  /** Settings that seem to be the person's own, and are not used. */
  readonly refusedOwn?: RefusedOwn;
  /** The configuration found in the project, used or not. */
  readonly project: ProjectConfig | undefined;
}

/**
 * Loads and checks the configuration for a folder: the person's own, and the project's if the person trusts exactly
 * that file. A file that is not trusted is neither run nor parsed.
 *
 * A module exports it as `config` or as its default. Node itself strips the types from `.ts` (22.18 and later).
 *
 * @throws StartError `invalid-config` naming the file, in JSON the line and the column, the field and the remedy.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { env } = options;
  const { ownFile, ownFolder, refusedOwn, project } = await inspectConfig(options);
  const found = { ownFile, project, ...(refusedOwn !== undefined && { refusedOwn }) };
  const own = ownFile === undefined ? {} : await readConfig(ownFile, options);
  if (project === undefined || (project.state !== "trusted" && project.state !== "named")) {
    return { ...found, config: own, file: undefined };
  }
  if (project.file === ownFile) return { ...found, config: own, file: undefined, project: undefined };
  const trustList =
    project.state === "trusted" && ownFolder !== undefined ? openTrustList(ownFolder, filesOf(options)) : undefined;
  const nearer = limitProjectConfig(await readConfig(project.file, options, trustList), {
    file: project.file,
    ownFile: ownFile ?? (ownFolder === undefined ? "your own configuration" : join(ownFolder, "config.json")),
    allowedHosts: own.allowedHosts ?? [],
    env,
  });
  return { ...found, config: mergeConfigs(own, nearer), file: project.file };
}

/** Finds the configurations for a folder and whether the person trusts them. Runs none of them. */
export async function inspectConfig(
  options: LoadConfigOptions,
): Promise<Pick<LoadedConfig, "ownFile" | "refusedOwn" | "project"> & { readonly ownFolder: string | undefined }> {
  const files = filesOf(options);
  const { folder, refused } = await findOwnFolder({ ...options, files });
  return {
    ownFolder: folder,
    ownFile: folder === undefined ? undefined : await findOwn(folder, files),
    // A folder that does not exist is not reported as ignored.
    ...(refused?.isThere === true && { refusedOwn: refused }),
    project: await judgeProject(options, folder === undefined ? undefined : openTrustList(folder, files)),
  };
}

/**
 * The list of files trusted by the person to whom these variables belong.
 * @throws StartError where there is no home folder.
 */
export async function trustListOf(
  options: Pick<LoadConfigOptions, "cwd" | "env" | "files" | "account">,
): Promise<TrustList> {
  const files = filesOf(options);
  const { folder, refused } = await findOwnFolder({ ...options, files });
  if (folder !== undefined) return openTrustList(folder, files);
  const why =
    refused === undefined
      ? "neither XDG_CONFIG_HOME nor HOME is set to an absolute path. Set one of them"
      : `${refused.path} ${refused.why}`;
  throw new StartError("invalid-config", `There is no folder to remember trusted files in: ${why}.`);
}

/** What is recorded when a file is trusted: the file and everything it imports, as they are now. */
export async function describeTrust(
  file: string,
  files: FileSystem,
): Promise<{ readonly bytes: Uint8Array; readonly proof: Uint8Array; readonly imports: readonly string[] }> {
  const { bytes, proof, digests } = await readReach(file, files);
  return { bytes, proof, imports: [...digests.keys()].filter((path) => path !== file) };
}

const filesOf = ({ files = createSystemFiles() }: Pick<LoadConfigOptions, "files">): FileSystem => files;

/** The project's configuration for a folder, and whether the person trusts it. */
async function judgeProject(
  options: LoadConfigOptions,
  trustList: TrustList | undefined,
): Promise<ProjectConfig | undefined> {
  const { cwd, look = lookAtFile } = options;
  const files = filesOf(options);
  if (options.file !== undefined) return { file: resolve(cwd, options.file), state: "named" };
  const found = await findConfigs(cwd, { files, look });
  const judged: ProjectConfig[] = [];
  for (const one of found) judged.push(await judge(one, trustList, files));
  const trusted = judged.filter(({ state }) => state === "trusted");
  if (trusted.length > 0 && judged.length > 1) {
    const names = judged.map(({ file }) => basename(file)).join(" and ");
    throw new StartError("invalid-config", `${cwd} has ${names}. Keep one of them, or name the one you mean.`);
  }
  return trusted[0] ?? judged[0];
}

async function judge(found: FoundConfig, trustList: TrustList | undefined, files: FileSystem): Promise<ProjectConfig> {
  const { file, refusal } = found;
  if (refusal !== undefined) return { file, state: "refused", why: refusal };
  if (trustList === undefined) return { file, state: "unknown" };
  let proof: Uint8Array;
  try {
    // The files are only read to compute their digests.
    ({ proof } = await readReach(file, files));
  } catch (error) {
    if (!isStartError(error)) throw error;
    return { file, state: "refused", why: error.message.replace(/\.$/, "") };
  }
  return { file, state: await trustList.judge(file, proof) };
}

async function findOwn(folder: string, files: FileSystem): Promise<string | undefined> {
  const found: string[] = [];
  for (const name of OWN_FILES) if (await files.exists(join(folder, name))) found.push(name);
  if (found.length > 1) {
    throw new StartError("invalid-config", `${folder} has ${found.join(" and ")}. Keep one of them.`);
  }
  return found[0] === undefined ? undefined : join(folder, found[0]);
}

async function readConfig(file: string, options: LoadConfigOptions, trustList?: TrustList): Promise<Config> {
  const files = filesOf(options);
  if (trustList === undefined) {
    const text = decode(file, await readBytes(file, files));
    return extname(file) === ".json" ? readJson(file, text) : await readModule(file, options.load);
  }
  // A file may change between the check and its use, so the bytes that are used are checked again.
  const { bytes, proof, digests } = await readReach(file, files);
  if ((await trustList.judge(file, proof)) !== "trusted") {
    throw new StartError(
      "invalid-config",
      `${file} changed while it was read, and is not used. Review it, then run: millrace trust ${JSON.stringify(file)}`,
    );
  }
  const text = decode(file, bytes);
  if (extname(file) === ".json") return readJson(file, text);
  return await readModule(file, options.load ?? (() => importGuarded(file, digests)));
}

async function readBytes(file: string, files: FileSystem): Promise<Uint8Array> {
  try {
    return await files.read(file);
  } catch (error) {
    const why = describeReadFailure(error);
    throw new StartError("invalid-config", `${file} cannot be read: ${why}. Check the path.`, { cause: error });
  }
}

function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new StartError("invalid-config", `${file} cannot be read: it is not UTF-8. Check the path.`, {
      cause: error,
    });
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
    ignoreSecondReport(error);
    // Errors of defineConfig are reported like those in JSON: with the file name first.
    if (isStartError(error) && error.message.startsWith(`${DEFINED_BY}: `)) {
      throw new StartError("invalid-config", `${file}${error.message.slice(DEFINED_BY.length)}`, { cause: error });
    }
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
