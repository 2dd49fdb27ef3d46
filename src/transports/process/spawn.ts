import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Clock, ProcessFamily, ProcessHandle, ProcessRequest, Spawn } from "#domain";
import { readBytes } from "../readable-bytes.ts";
import { systemClock } from "../system-clock.ts";
import { watchExit } from "./exit.ts";
import { createInput } from "./input.ts";
import { createControlGroups } from "./control-group.ts";
import { createFollow, type FollowProcess } from "./family.ts";
import { readProcEntry } from "./proc-table.ts";
import { createProcessTable } from "./system-process-table.ts";
import { explainStartFailure, refuseUnsafe } from "./start-failure.ts";

export interface SpawnOptions {
  readonly clock?: Clock;
  /**
   * How long a stream of an exited process may stay silent before it is closed: a grandchild may hold it open for ever.
   * Default 1000.
   */
  readonly silenceMs?: number;
  /** Default: the current platform. */
  readonly platform?: NodeJS.Platform;
  /**
   * Follows processes that are started with a tag. Default: by control group or process table, whichever the system
   * allows.
   */
  readonly follow?: FollowProcess;
}

const SILENCE_MS = 1000;

/**
 * Starts real processes: no shell, exactly the given environment, each in its own process group, so that a signal
 * reaches everything the process started and never our own process.
 *
 * Rejects with `StartError`: `cli-not-found` when the executable does not exist, `spawn` for every other reason,
 * including a missing working folder. Both output streams must be read; a stream with no reader `silenceMs` after the
 * exit is closed.
 */
export function createSpawn(options: SpawnOptions = {}): Spawn {
  const { clock = systemClock, silenceMs = SILENCE_MS, platform = process.platform } = options;
  let { follow } = options;
  return async (request) => {
    refuseUnsafe(request);
    // Loaded here, so that programs that never start a process do not pay for it at startup.
    const { spawn } = await import("node:child_process");
    if (request.tag !== undefined) follow ??= createSystemFollow(platform, clock);
    let started: Started;
    try {
      started = await start(spawn, { request, platform, follow });
    } catch (error) {
      throw await explainStartFailure(request, error as NodeJS.ErrnoException);
    }
    return createHandle(started, { clock, silenceMs, platform });
  };
}

function createSystemFollow(platform: NodeJS.Platform, clock: Clock): FollowProcess {
  return createFollow({ table: createProcessTable({ platform }), groups: createControlGroups(platform), clock });
}

interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly family: ProcessFamily | undefined;
}

interface StartRequest {
  readonly request: ProcessRequest;
  readonly platform: NodeJS.Platform;
  readonly follow: FollowProcess | undefined;
}

/** Resolves once the process exists. */
function start(
  spawn: typeof import("node:child_process").spawn,
  { request, platform, follow }: StartRequest,
): Promise<Started> {
  return new Promise((resolve, reject) => {
    const begin = (): ChildProcessWithoutNullStreams =>
      spawn(request.executable, [...request.args], {
        // "" inherits the folder, like no folder at all.
        ...(request.cwd !== undefined && request.cwd !== "" && { cwd: request.cwd }),
        env: { ...request.env },
        stdio: ["pipe", "pipe", "pipe"],
        shell: false,
        // Its own process group; on Windows this would open a console window.
        detached: platform !== "win32",
        windowsHide: true,
      });
    const { tag } = request;
    const followed = tag === undefined ? undefined : follow?.(tag, begin);
    const { child, family } = followed ?? { child: begin(), family: undefined };
    // Both listeners stay: a later 'error' (a signal that could not be sent) must not crash our process.
    child.on("error", reject);
    child.on("spawn", () => resolve({ child, family }));
  });
}

function createHandle(
  { child, family }: Started,
  { clock, silenceMs, platform }: Required<Omit<SpawnOptions, "follow">>,
): ProcessHandle {
  const stdout = readBytes(child.stdout);
  const stderr = readBytes(child.stderr);
  const input = createInput(child.stdin);
  let gone = false;
  const exit = watchExit(child, [stdout, stderr], { clock, silenceMs }).then((how) => {
    gone = true;
    return how;
  });
  return {
    pid: child.pid,
    startTicks: child.pid === undefined || platform !== "linux" ? undefined : readProcEntry(child.pid)?.startTicks,
    family,
    get isRunning() {
      return child.exitCode === null && child.signalCode === null;
    },
    stdout,
    stderr,
    write: input.write,
    endInput: input.end,
    kill(signal) {
      // Once it is gone, its id may belong to another process.
      if (!gone) sendSignal(child, signal, platform);
    },
    exit,
  };
}

/** Signals the whole group; on Windows, or if the group is empty, only the process. */
function sendSignal(child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals, platform: NodeJS.Platform): void {
  if (child.pid !== undefined && platform !== "win32") {
    try {
      process.kill(-child.pid, signal);
      return;
    } catch {
      // No such group: fall through.
    }
  }
  child.kill(signal);
}
