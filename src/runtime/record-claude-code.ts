import { stopProcess } from "#transports";
import type { ClaudeCodeWorld } from "../backends/claude-code/launch.ts";
import type { Tap } from "./world.ts";

/** What the CLI takes from the machine besides the seams, through a tap: where it is, and how it is brought down. */
export function tapClaudeCode(world: ClaudeCodeWorld, tap: Tap): ClaudeCodeWorld {
  const { watchdog, findRepositories: find } = world;
  return {
    ...world,
    // Its name is drawn by the machine, and stands in the arguments.
    temporaryFolder: () =>
      tap.take("claude-code.folder", async () =>
        typeof world.temporaryFolder === "string" ? world.temporaryFolder : await world.temporaryFolder(),
      ),
    ...(find !== undefined && {
      findRepositories: (folder: string) => tap.take("claude-code.repositories", () => find(folder)),
    }),
    probe: (path) => tap.take("claude-code.probe", () => world.probe(path)),
    stop: (handle, options) =>
      // In real time: how often somebody looks whether a process is gone belongs on no tape.
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
