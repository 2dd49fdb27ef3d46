import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Clock, ProcessHandle, ProcessRequest, Spawn } from "#domain";
import { readBytes } from "../readable-bytes.ts";
import { systemClock } from "../system-clock.ts";
import { watchExit } from "./exit.ts";
import { createInput } from "./input.ts";
import { createProcessTable } from "./process-table.ts";
import { explainStartFailure, refuseUnsafe } from "./start-failure.ts";

export interface SpawnOptions {
  readonly clock?: Clock;
  /**
   * How long a stream of a process that has exited may stay silent before it is closed: a grandchild may hold it open
   * for ever. Default 1000.
   */
  readonly silenceMs?: number;
}

const SILENCE_MS = 1000;

/**
 * Starts real processes: no shell, exactly the given environment, each in a process group of its own, so that a
 * signal reaches what the process started and never ourselves.
 *
 * Rejects with `StartError`: `cli-not-found` when there is no such executable, `spawn` for every other reason, a
 * missing working folder among them. Both output streams must be read; one that nobody has begun to read
 * `silenceMs` after the exit is closed.
 */
export function createSpawn(options: SpawnOptions = {}): Spawn {
  const clock = options.clock ?? systemClock;
  const silenceMs = options.silenceMs ?? SILENCE_MS;
  return async (request) => {
    refuseUnsafe(request);
    // Loaded here: who never starts a process should not pay for it at start-up.
    const { spawn } = await import("node:child_process");
    let child: ChildProcessWithoutNullStreams;
    try {
      child = await start(spawn, request);
    } catch (error) {
      throw await explainStartFailure(request, error as NodeJS.ErrnoException);
    }
    return createHandle(child, clock, silenceMs);
  };
}

/** Resolves once the process exists. */
function start(
  spawn: typeof import("node:child_process").spawn,
  request: ProcessRequest,
): Promise<ChildProcessWithoutNullStreams> {
  return new Promise((resolve, reject) => {
    const child = spawn(request.executable, [...request.args], {
      // "" inherits, as no folder at all does.
      ...(request.cwd !== undefined && request.cwd !== "" && { cwd: request.cwd }),
      env: { ...request.env },
      stdio: ["pipe", "pipe", "pipe"],
      shell: false,
      detached: true,
      windowsHide: true,
    });
    // Both stay: a later 'error' (a signal that could not be sent) must not bring us down.
    child.on("error", reject);
    child.on("spawn", () => resolve(child));
  });
}

function createHandle(child: ChildProcessWithoutNullStreams, clock: Clock, silenceMs: number): ProcessHandle {
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
    startTicks: child.pid === undefined ? undefined : createProcessTable()?.read(child.pid)?.startTicks,
    get isRunning() {
      return child.exitCode === null && child.signalCode === null;
    },
    stdout,
    stderr,
    write: input.write,
    endInput: input.end,
    kill(signal) {
      // Once it is gone its number may belong to somebody else.
      if (!gone) sendSignal(child, signal);
    },
    exit,
  };
}

/** Signals the whole group; where there are none (Windows), or it is empty, the process alone. */
function sendSignal(child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (child.pid !== undefined && process.platform !== "win32") {
    try {
      process.kill(-child.pid, signal);
      return;
    } catch {
      // No such group: fall through.
    }
  }
  child.kill(signal);
}
