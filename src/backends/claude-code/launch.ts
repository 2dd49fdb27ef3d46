import { resolve } from "node:path";
import { describeThrown, isStartError, StartError } from "#domain";
import { coverThrown } from "../cover-thrown.ts";
import { type ArgvPlan, buildArgv } from "./argv.ts";
import { attempt, type CliProcess, createCliProcess } from "./cli-process.ts";
import { createCover, createLineCover, createPieceCover } from "./cover.ts";
import { childEnvironment, RUN_TAG_VARIABLE } from "./environment.ts";
import { type FoundCli, holds, startFailure } from "./find-cli.ts";
import { type GitIsolation, isolateFolders } from "./git-nested.ts";
import type { ClaudeCodeOptions } from "./options.ts";
import type { ClaudeCodeWorld } from "./world.ts";

/** How long a search for repositories holds: it takes a while in a large folder, and what is in the folder changes. */
const SEARCH_HOLDS_MS = 1000;

/** The CLI with what is known of the repositories where it will work, for a start right after it. Rejects with `StartError`. */
export async function prepareCli(cli: FoundCli, options: ClaudeCodeOptions, world: ClaudeCodeWorld): Promise<FoundCli> {
  const cover = createCover(options, world);
  try {
    const git = { ...(await isolate(options, world)), at: world.clock.now() };
    return { ...cli, warnings: [...cli.warnings, ...git.warnings.map(cover)], git };
  } catch (error) {
    throw coverThrown(error, cover);
  }
}

export interface LaunchRequest {
  readonly cli: FoundCli;
  readonly options: ClaudeCodeOptions;
  readonly plan: ArgvPlan;
}

/** Starts the CLI. Rejects with `StartError`, and then leaves nothing behind. */
export async function launchCli({ cli, options, plan }: LaunchRequest, world: ClaudeCodeWorld): Promise<CliProcess> {
  const cover = createCover(options, world);
  const { args, files } = buildArgv(options, plan);
  const runTag = world.random.id();
  const tag = { name: RUN_TAG_VARIABLE, value: runTag };
  const folders = foldersOf(options, world);
  const isSearched = cli.git !== undefined && holds(cli.git.at, SEARCH_HOLDS_MS, world.clock);
  const env = childEnvironment({
    parent: world.env,
    runTag,
    platform: world.platform,
    folders: [world.cwd, ...folders],
    attachments: options.attachments,
    git: (isSearched ? cli.git : await isolate(options, world)).settings,
    extra: { ...thinkingVariables(options), ...options.env },
  });
  const { flags, remove } = await writeFiles(files, runTag, world);
  try {
    if (options.watchdog !== false) await world.watchdog?.guard(tag);
    const handle = await world.spawn({
      executable: cli.command.executable,
      args: [...cli.command.args, ...flags, ...args],
      env,
      tag,
      ...(options.cwd !== undefined && { cwd: options.cwd }),
    });
    const { family } = handle;
    if (options.watchdog !== false && family !== undefined) attempt(() => world.watchdog?.follow?.(tag, family));
    const coverLines = () => createLineCover(options, world);
    const onStderr = stderrListener(options, world);
    return createCliProcess(handle, { tag, cover, coverLines, onStderr, removeFiles: remove }, world);
  } catch (error) {
    attempt(() => world.watchdog?.release(tag));
    await remove().catch(() => undefined);
    if (isStartError(error)) throw coverThrown(error, cover);
    throw coverThrown(startFailure(cli.path, error), cover);
  }
}

/** The caller's listener, with secrets hidden. */
function stderrListener(options: ClaudeCodeOptions, world: ClaudeCodeWorld): ((line: string) => void) | undefined {
  const { stderr } = options;
  if (stderr === undefined) return undefined;
  const coverPiece = createPieceCover(options, world);
  return (line) => stderr(coverPiece(line));
}

/** The CLI's working folders, for git isolation. */
function foldersOf({ cwd, addDirs = [] }: ClaudeCodeOptions, world: ClaudeCodeWorld): readonly string[] {
  const folder = cwd === undefined || cwd === "" ? world.cwd : resolve(world.cwd, cwd);
  return [folder, ...addDirs.map((other) => resolve(folder, other))];
}

/** Disables the commands of all git repositories in the CLI's working folders. */
async function isolate(options: ClaudeCodeOptions, world: ClaudeCodeWorld): Promise<GitIsolation> {
  if (options.repositoryGit === true) return { settings: [], warnings: [] };
  const { files, env, findRepositories } = world;
  const folders = foldersOf(options, world);
  return await isolateFolders(folders, { files, home: env["HOME"] ?? env["USERPROFILE"], findRepositories });
}

/** Writes texts that are too long for arguments to private files, which are removed with the process. */
async function writeFiles(
  files: readonly { readonly flag: string; readonly text: string }[],
  tag: string,
  { files: system, temporaryFolder }: ClaudeCodeWorld,
): Promise<{ readonly flags: readonly string[]; readonly remove: () => Promise<void> }> {
  const paths: string[] = [];
  const flags: string[] = [];
  if (files.length === 0) return { flags, remove: async () => undefined };
  const folder = typeof temporaryFolder === "string" ? temporaryFolder : await temporaryFolder();
  const remove = async (): Promise<void> => {
    const failures: string[] = [];
    for (const path of paths.splice(0)) {
      // They are private: removal is tried twice, and files that remain are reported.
      const failed = await system.remove(path).catch(() => system.remove(path).catch(describeThrown));
      if (failed !== undefined) failures.push(`${path} could not be removed: ${failed}`);
    }
    if (failures.length > 0) throw new Error(failures.join("\n"));
  };
  try {
    for (const { flag, text } of files) {
      const path = `${folder}/millrace-${tag}-${paths.length}${flag}`;
      paths.push(path);
      await system.write(path, new TextEncoder().encode(text));
      flags.push(flag, path);
    }
  } catch (error) {
    await remove().catch(() => undefined);
    const why = `A file for the CLI could not be written to ${folder}: ${describeThrown(error)}`;
    throw new StartError("spawn", why, { cause: error });
  }
  return { flags, remove };
}

/** Otherwise a model with adaptive thinking decides itself how much it thinks, and the number is ignored. */
function thinkingVariables({ maxThinkingTokens = 0 }: ClaudeCodeOptions): Record<string, string> {
  return maxThinkingTokens > 0 ? { CLAUDE_CODE_DISABLE_ADAPTIVE_THINKING: "1" } : {};
}
