import type { ProcessHandle, ProcessRequest } from "#domain";
import { stopProcess } from "#transports";
import { RUN_TAG_VARIABLE } from "../backends/claude-code/environment.ts";
import { claudeCodeWorld } from "./claude-code-world.ts";
import type { World } from "./world.ts";

/** A process that does not outlive ours. */
export interface GuardedProcess {
  readonly handle: ProcessHandle;
  /** Resolves when the process and everything it has started are gone. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts a process that is ended together with everything it has started: by `stop`, or by the watchdog if our process
 * dies. Rejects with `StartError` as `world.spawn` does.
 */
export async function startGuarded(request: ProcessRequest, world: World): Promise<GuardedProcess> {
  const { watchdog, processes: table } = claudeCodeWorld();
  const tag = { name: RUN_TAG_VARIABLE, value: world.random.id() };
  if (world.tap?.isPlayed === true) return playGuarded(await world.spawn({ ...request, tag }));
  await watchdog?.guard(tag);
  let handle: ProcessHandle;
  try {
    // First in the environment: a process listing may cut off later variables.
    const env = { [tag.name]: tag.value, ...request.env, [tag.name]: tag.value };
    handle = await world.spawn({ ...request, env, tag });
  } catch (error) {
    watchdog?.release(tag);
    throw error;
  }
  if (handle.family !== undefined) watchdog?.follow?.(tag, handle.family);
  let stopping: Promise<void> | undefined;
  return {
    handle,
    stop() {
      stopping ??= (async () => {
        // In real time: the polling for the end of a process does not belong on a tape.
        const { clock } = world.tap?.real ?? world;
        await stopProcess(handle, { clock, tag, immediate: true, table });
        watchdog?.release(tag);
        await handle.exit;
      })();
      return stopping;
    },
  };
}

/** A process from a tape: there is nothing to guard or to clean up. */
function playGuarded(handle: ProcessHandle): GuardedProcess {
  return { handle, stop: async () => handle.kill("SIGKILL") };
}
