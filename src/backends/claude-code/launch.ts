import { resolve } from "node:path";
import {
  type Clock,
  describeThrown,
  type FileSystem,
  isStartError,
  type ProcessExit,
  type ProcessHandle,
  type Raw,
  type ProcessTag,
  type Random,
  type Spawn,
  StartError,
  type WarningDetail,
} from "#domain";
import {
  createStderrTail,
  type FindRepositories,
  type ProcessTable,
  type StderrTail,
  stopProcess,
  type Watchdog,
} from "#transports";
import { type ArgvPlan, buildArgv } from "./argv.ts";
import { type Cover, coverThrown } from "../cover-thrown.ts";
import { createCover, createLineCover, createPieceCover } from "./cover.ts";
import { childEnvironment, RUN_TAG_VARIABLE } from "./environment.ts";
import { type GitIsolation, isolateFolders } from "./git-nested.ts";
import type { DetectRequest, VersionDetection } from "./detect-version.ts";
import { locateClaude, type ProbeExecutable } from "./locate.ts";
import type { ClaudeCodeOptions } from "./options.ts";
import { applyVersionPolicy, type CliVersion, detectVersion } from "./version.ts";
import { type CliCommand, readShim } from "./windows-shim.ts";

/** How long a program is taken to be the version it said it is. */
const VERSION_HOLDS_MS = 60_000;

/** What the CLI needs of the world outside. */
export interface ClaudeCodeWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly spawn: Spawn;
  readonly files: FileSystem;
  readonly probe: ProbeExecutable;
  /** The variables of our own process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Our own working folder. */
  readonly cwd: string;
  /** Where files for the CLI may lie while it runs: ours alone. A function is asked when there is a file. */
  readonly temporaryFolder: string | (() => Promise<string>);
  /** The processes of this machine; `undefined` where they cannot be listed. */
  readonly processes: ProcessTable | undefined;
  /** Default: the one we run on. */
  readonly platform?: NodeJS.Platform | undefined;
  /** Ends what was started when this process dies suddenly. */
  readonly watchdog?: Watchdog | undefined;
  /** What programs said their versions are: asking costs a process, and with the real CLI a fifth of a second. */
  readonly versions?: Map<string, { readonly at: number; readonly detection: VersionDetection }> | undefined;
  /** Looks for git repositories below the working folder, whose commands are switched off. Missing: only those are that git goes into by itself. */
  readonly findRepositories?: FindRepositories | undefined;
  /** In place of `stopProcess`: a process on a tape cannot be stopped, only seen to stop. */
  readonly stop?: typeof stopProcess | undefined;
}

/** The CLI as it was found on this machine. */
export interface FoundCli {
  readonly path: string;
  /** How it is started: by its path, or on Windows what the batch file at the path would start. */
  readonly command: CliCommand;
  /** `undefined`: it was not asked, or did not say. */
  readonly version: CliVersion | undefined;
  readonly warnings: readonly WarningDetail[];
}

/** Finds the CLI and asks it for its version. Rejects with `StartError`. */
export async function findCli(options: ClaudeCodeOptions, world: ClaudeCodeWorld): Promise<FoundCli> {
  const cover = createCover(options, world);
  try {
    const [found, isolation] = await Promise.all([lookForCli(options, world), isolate(options, world)]);
    return { ...found, warnings: [...found.warnings, ...isolation.warnings].map(cover) };
  } catch (error) {
    throw coverThrown(error, cover);
  }
}

async function lookForCli(options: ClaudeCodeOptions, world: ClaudeCodeWorld): Promise<FoundCli> {
  const { spawn, clock } = world;
  const { path, command } =
    options.spawn === undefined ? await locateCommand(options.executable, world) : commandElsewhere(options.executable);
  if (options.skipVersionCheck === true) return { path, command, version: undefined, warnings: [] };
  const known = world.versions?.get(path);
  const age = known === undefined ? undefined : clock.now() - known.at;
  // One from the future was asked for before the clock was set back.
  const isFresh = known !== undefined && age !== undefined && age >= 0 && age < VERSION_HOLDS_MS;
  const detection = isFresh
    ? known.detection
    : await detectVersion({ path, command, spawn, clock, ...prepareCheck(options, world) });
  if (!isFresh && detection.kind === "found") world.versions?.set(path, { at: clock.now(), detection });
  const verdict = applyVersionPolicy(detection, { permissive: options.permissiveVersionCheck === true });
  if (verdict.kind === "refused") throw verdict.error;
  return { path, command, version: verdict.version, warnings: verdict.warnings };
}

/** The variables of a version check, and what ends whatever it has started. */
export function prepareCheck(
  options: Pick<ClaudeCodeOptions, "env">,
  world: Pick<ClaudeCodeWorld, "env" | "random" | "clock" | "processes" | "platform" | "stop" | "cwd">,
): Pick<DetectRequest, "env" | "tag" | "stop"> {
  const { env: parent, random, clock, processes: table, platform, cwd } = world;
  const tag = { name: RUN_TAG_VARIABLE, value: random.id() };
  const stop = world.stop ?? stopProcess;
  return {
    env: childEnvironment({
      parent,
      platform,
      folders: [cwd],
      runTag: tag.value,
      ...(options.env !== undefined && { extra: options.env }),
    }),
    tag,
    stop: (handle) => stop(handle, { clock, tag, immediate: true, termGraceMs: 0, table }),
  };
}

/** Finds the CLI, and how it is started. Rejects with `StartError`. */
export async function locateCommand(
  executable: string | undefined,
  world: Pick<ClaudeCodeWorld, "env" | "probe" | "cwd" | "files" | "platform">,
): Promise<Pick<FoundCli, "path" | "command">> {
  const { env, probe, cwd, files, platform } = world;
  const path = await locateClaude({ executable, env, probe, cwd, platform });
  if (!/\.(?:cmd|bat)$/i.test(path)) return { path, command: { executable: path, args: [] } };
  return { path, command: await readShim({ path, read: (file) => files.read(file), node: process.execPath }) };
}

/** The CLI where the caller starts it: by name, because nothing on this machine says where it is. */
export function commandElsewhere(executable = "claude"): { readonly path: string; readonly command: CliCommand } {
  return { path: executable, command: { executable, args: [] } };
}

/** A CLI at work. */
export interface CliProcess {
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly exit: Promise<ProcessExit>;
  readonly stderr: StderrTail;
  /** Why stdout could not be read to its end. Set by whoever reads it. */
  outputFailure: string | undefined;
  /** Covers its secrets in what it has said: for everything that is shown of it. */
  readonly cover: Cover;
  /** The same for its lines, one after the other: a secret may be spread over several. */
  readonly coverLines: () => (frame: Raw) => Raw;
  /** Takes text for stdin, in order. A CLI that no longer reads is noticed by its exit. */
  write(text: string): void;
  /** Why something could not be written; `undefined` as long as everything was taken. */
  readonly inputFailure: string | undefined;
  /** Resolves when everything was written, or could not be. What holds the input open and does not read delays it for ever. */
  readonly inputSettled: Promise<void>;
  endInput(): void;
  /** Ends the turn of a CLI that has no control channel. */
  signalInterrupt(): void;
  /**
   * Resolves when nothing of it is left, its files among it. `immediate`: without waiting for it to end by itself; stdin
   * stays open, because a CLI whose stdin closes may take an open question for a yes. Idempotent; the more urgent wins.
   */
  stop(how: { readonly immediate: boolean }): Promise<void>;
}

export interface LaunchRequest {
  readonly cli: FoundCli;
  readonly options: ClaudeCodeOptions;
  readonly plan: ArgvPlan;
}

/** Starts the CLI. Rejects with `StartError`, and leaves nothing behind then. */
export async function launchCli({ cli, options, plan }: LaunchRequest, world: ClaudeCodeWorld): Promise<CliProcess> {
  const cover = createCover(options, world);
  const { args, files } = buildArgv(options, plan);
  const runTag = world.random.id();
  const tag = { name: RUN_TAG_VARIABLE, value: runTag };
  const folders = foldersOf(options, world);
  const env = childEnvironment({
    parent: world.env,
    runTag,
    platform: world.platform,
    folders: [world.cwd, ...folders],
    attachments: options.attachments,
    // Looked for each time: what is in the folder changes.
    git: (await isolate(options, world)).settings,
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
    const message = `${cli.path} could not be started: ${describeThrown(error)}`;
    throw coverThrown(new StartError("spawn", message, { cause: error }), cover);
  }
}

/** The caller's listener, behind the cover. */
function stderrListener(options: ClaudeCodeOptions, world: ClaudeCodeWorld): ((line: string) => void) | undefined {
  const { stderr } = options;
  if (stderr === undefined) return undefined;
  const coverPiece = createPieceCover(options, world);
  return (line) => stderr(coverPiece(line));
}

/** Nothing the watchdog does may keep a process from being started or stopped. */
function attempt(call: () => void): void {
  try {
    call();
  } catch {
    // It guards less, or longer, than it should; both end with this process.
  }
}

/** Where the CLI works: git is asked about these folders. */
function foldersOf({ cwd, addDirs = [] }: ClaudeCodeOptions, world: ClaudeCodeWorld): readonly string[] {
  const folder = cwd === undefined || cwd === "" ? world.cwd : resolve(world.cwd, cwd);
  return [folder, ...addDirs.map((other) => resolve(folder, other))];
}

/** Takes the commands of all repositories out of git that are in the folders where the CLI works. */
async function isolate(options: ClaudeCodeOptions, world: ClaudeCodeWorld): Promise<GitIsolation> {
  if (options.repositoryGit === true) return { settings: [], warnings: [] };
  const { files, env, findRepositories } = world;
  const folders = foldersOf(options, world);
  return await isolateFolders(folders, { files, home: env["HOME"] ?? env["USERPROFILE"], findRepositories });
}

interface CliParts {
  readonly tag: ProcessTag;
  readonly cover: Cover;
  readonly coverLines: CliProcess["coverLines"];
  readonly onStderr: ((line: string) => void) | undefined;
  readonly removeFiles: () => Promise<void>;
}

function createCliProcess(
  handle: ProcessHandle,
  { tag, cover, coverLines, onStderr, removeFiles }: CliParts,
  world: ClaudeCodeWorld,
): CliProcess {
  const encoder = new TextEncoder();
  const stderr = createStderrTail({ onLine: onStderr });
  stderr.drain(handle.stderr).catch(() => undefined);
  let writing: Promise<void> = Promise.resolve();
  let inputFailure: string | undefined;
  let polite: Promise<void> | undefined;
  let urgent: Promise<void> | undefined;

  const bringDown = async (immediate: boolean): Promise<void> => {
    const { clock, processes: table } = world;
    const stop = world.stop ?? stopProcess;
    await stop(handle, { clock, tag, immediate, table });
    attempt(() => world.watchdog?.release(tag));
    await removeFiles();
  };

  return {
    stdout: handle.stdout,
    exit: handle.exit,
    stderr,
    outputFailure: undefined,
    cover,
    coverLines,
    get inputFailure() {
      return inputFailure;
    },
    get inputSettled() {
      return writing;
    },
    write(text) {
      const bytes = encoder.encode(text);
      // One after the other, and read from meanwhile: a CLI that writes before it reads must not block us.
      writing = writing
        .then(() => handle.write(bytes))
        .catch((error: unknown) => {
          inputFailure ??= cover(describeThrown(error));
        });
    },
    endInput() {
      writing.then(
        () => handle.endInput(),
        () => handle.endInput(),
      );
    },
    signalInterrupt: () => handle.kill("SIGINT"),
    stop({ immediate }) {
      if (immediate) return (urgent ??= bringDown(true));
      return urgent ?? (polite ??= bringDown(false));
    },
  };
}

/** Writes what is too long for arguments; only we can read it, and it goes with the process. */
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
      // They hold what others may not read: one more try, and what stays is told.
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

/** How long a CLI that has closed its output may take to exit. */
const EXIT_MS = 1000;

/** How long the system may take to say that nobody reads the input of a process that is gone. */
const INPUT_MS = 100;

/**
 * How a process whose output has ended went; `undefined` when it stays. Whether it had taken its input is known then,
 * too.
 */
export async function awaitExit(
  process: Pick<CliProcess, "exit" | "inputSettled">,
  clock: Clock,
  maxMs: number = EXIT_MS,
): Promise<ProcessExit | undefined> {
  const exit = await within(process.exit, clock, maxMs);
  if (exit !== undefined) await within(process.inputSettled, clock, INPUT_MS);
  return exit;
}

/** What comes within so long; `undefined` when it does not, or fails. */
function within<Value>(promise: Promise<Value>, clock: Clock, maxMs: number): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const stopClock = clock.after(maxMs, () => resolve(undefined));
    const settle = (value: Value | undefined): void => {
      stopClock();
      resolve(value);
    };
    promise.then(settle, () => settle(undefined));
  });
}

/** Otherwise a model that can do both decides by itself how much it thinks, and the number is dropped. */
function thinkingVariables({ maxThinkingTokens = 0 }: ClaudeCodeOptions): Record<string, string> {
  return maxThinkingTokens > 0 ? { CLAUDE_CODE_DISABLE_ADAPTIVE_THINKING: "1" } : {};
}
