import {
  createFindRepositories,
  createProcessFolder,
  createProcessTable,
  createSpawn,
  createSystemFiles,
  createWatchdog,
  probeExecutable,
  stopProcess,
  systemClock,
  systemRandom,
} from "#transports";
import type { ClaudeCodeWorld } from "../backends/claude-code/world.ts";
import type { Tap } from "./world.ts";

/** The real machine, as the Claude Code CLI needs it. */
export const claudeCodeWorld: () => ClaudeCodeWorld = describeMachine();

/** One watchdog for the whole process, started with the first CLI; one folder; and one look at each version. */
function describeMachine(): () => ClaudeCodeWorld {
  const watchdog = createWatchdog();
  const temporaryFolder = createProcessFolder();
  const versions: NonNullable<ClaudeCodeWorld["versions"]> = new Map();
  return () => ({
    clock: systemClock,
    random: systemRandom,
    spawn: createSpawn(),
    files: createSystemFiles(),
    probe: probeExecutable,
    env: process.env,
    cwd: process.cwd(),
    temporaryFolder,
    processes: createProcessTable(),
    watchdog,
    findRepositories: createFindRepositories(),
    versions,
  });
}

/**
 * Passes everything the CLI takes from the machine besides the seams through a tap: where it is, and how it is stopped.
 */
export function tapClaudeCode(world: ClaudeCodeWorld, tap: Tap): ClaudeCodeWorld {
  const { watchdog, findRepositories: find } = world;
  return {
    ...world,
    // Its name is random, and appears in the arguments.
    temporaryFolder: () =>
      tap.take("claude-code.folder", async () =>
        typeof world.temporaryFolder === "string" ? world.temporaryFolder : await world.temporaryFolder(),
      ),
    ...(find !== undefined && {
      findRepositories: (folder: string) => tap.take("claude-code.repositories", () => find(folder)),
    }),
    probe: (path) => tap.take("claude-code.probe", () => world.probe(path)),
    stop: (handle, options) =>
      // In real time: the polling for the end of a process does not belong on a tape.
      tap.take("claude-code.stop", (real) => stopProcess(handle, { ...options, clock: real.clock })),
    watchdog:
      watchdog === undefined
        ? undefined
        : {
            ...watchdog,
            guard: (tag) => tap.take("claude-code.guard", () => watchdog.guard(tag)),
            release: (tag) => tap.take("claude-code.release", () => watchdog.release(tag)),
          },
  };
}
