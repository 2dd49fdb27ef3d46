import { type Clock, describeThrown, isStartError, StartError, type WarningDetail } from "#domain";
import { stopProcess } from "#transports";
import { coverThrown } from "../cover-thrown.ts";
import { attempt } from "./cli-process.ts";
import { createCover } from "./cover.ts";
import type { DetectRequest, VersionDetection } from "./detect-version.ts";
import { childEnvironment, RUN_TAG_VARIABLE } from "./environment.ts";
import type { GitIsolation } from "./git-nested.ts";
import { locateClaude } from "./locate.ts";
import type { ClaudeCodeOptions } from "./options.ts";
import { applyVersionPolicy, type CliVersion, detectVersion } from "./version.ts";
import { type CliCommand, readShim } from "./windows-shim.ts";
import type { ClaudeCodeWorld } from "./world.ts";

/** How long a detected version is reused. */
const VERSION_HOLDS_MS = 60_000;

/** The CLI as it was found on this machine. */
export interface FoundCli {
  readonly path: string;
  /** How to start it: by its path, or on Windows with what the batch file at the path would start. */
  readonly command: CliCommand;
  /** `undefined`: it was not asked, or gave no version. */
  readonly version: CliVersion | undefined;
  readonly warnings: readonly WarningDetail[];
  /** The repositories where it will work, with their commands disabled, and when they were searched for. */
  readonly git?: GitIsolation & { readonly at: number };
}

/** Finds the CLI and asks it for its version. Rejects with `StartError`. */
export async function findCli(options: ClaudeCodeOptions, world: ClaudeCodeWorld): Promise<FoundCli> {
  const cover = createCover(options, world);
  try {
    const found = await lookForCli(options, world);
    return { ...found, warnings: found.warnings.map(cover) };
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
  const isFresh = known !== undefined && holds(known.at, VERSION_HOLDS_MS, clock);
  const ask = async (): Promise<VersionDetection> => {
    const check = prepareCheck(options, world);
    const isGuarded = options.watchdog !== false;
    try {
      if (isGuarded) await world.watchdog?.guard(check.tag);
      return await detectVersion({ path, command, spawn, clock, ...check });
    } catch (error) {
      throw isStartError(error) ? error : startFailure(path, error);
    } finally {
      if (isGuarded) attempt(() => world.watchdog?.release(check.tag));
    }
  };
  const detection = isFresh ? known.detection : await ask();
  if (!isFresh && detection.kind === "found") world.versions?.set(path, { at: clock.now(), detection });
  const verdict = applyVersionPolicy(detection, { permissive: options.permissiveVersionCheck === true });
  if (verdict.kind === "refused") throw verdict.error;
  return { path, command, version: verdict.version, warnings: verdict.warnings };
}

/** The variables of a version check, and the function that stops whatever it has started. */
export function prepareCheck(
  options: Pick<ClaudeCodeOptions, "env">,
  world: Pick<ClaudeCodeWorld, "env" | "random" | "clock" | "processes" | "platform" | "stop" | "cwd">,
): Required<Pick<DetectRequest, "env" | "tag" | "stop">> {
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

/** Finds the CLI, and how to start it. Rejects with `StartError`. */
export async function locateCommand(
  executable: string | undefined,
  world: Pick<ClaudeCodeWorld, "env" | "probe" | "cwd" | "files" | "platform">,
): Promise<Pick<FoundCli, "path" | "command">> {
  const { env, probe, cwd, files, platform } = world;
  const path = await locateClaude({ executable, env, probe, cwd, platform });
  if (!/\.(?:cmd|bat)$/i.test(path)) return { path, command: { executable: path, args: [] } };
  return { path, command: await readShim({ path, read: (file) => files.read(file), node: process.execPath }) };
}

/** The CLI if the caller starts it: by name, because its path on this machine is unknown. */
export function commandElsewhere(executable = "claude"): { readonly path: string; readonly command: CliCommand } {
  return { path: executable, command: { executable, args: [] } };
}

/** The error for a CLI that could not be started. */
export function startFailure(path: string, cause: unknown): StartError {
  return new StartError("spawn", `${path} could not be started: ${describeThrown(cause)}`, { cause });
}

/** Whether something that was found at a time still holds. A time in the future means that the clock was set back. */
export function holds(at: number, maxMs: number, clock: Pick<Clock, "now">): boolean {
  const age = clock.now() - at;
  return age >= 0 && age < maxMs;
}
