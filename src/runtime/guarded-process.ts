import type { ProcessHandle, ProcessRequest } from "#domain";
import { stopProcess } from "#transports";
import { RUN_TAG_VARIABLE } from "../backends/claude-code/environment.ts";
import { claudeCodeWorld } from "./claude-code-world.ts";
import type { World } from "./world.ts";

/** A process that does not outlive us. */
export interface GuardedProcess {
  readonly handle: ProcessHandle;
  /** Resolves when nothing of it and of what it has started is left. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts a process that is ended with everything it has started: by `stop`, or by the watchdog if we die suddenly.
 * Rejects with `StartError` as `world.spawn` does.
 */
export async function startGuarded(request: ProcessRequest, world: World): Promise<GuardedProcess> {
  const { watchdog, processes: table } = claudeCodeWorld();
  const tag = { name: RUN_TAG_VARIABLE, value: world.random.id() };
  if (world.tap?.isPlayed === true) return playGuarded(await world.spawn({ ...request, tag }));
  await watchdog?.guard(tag);
  let handle: ProcessHandle;
  try {
    // In front: a listing of processes may be cut after the first variables.
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
        // In real time: how often somebody looks whether a process is gone belongs on no tape.
        const { clock } = world.tap?.real ?? world;
        await stopProcess(handle, { clock, tag, immediate: true, table });
        watchdog?.release(tag);
        await handle.exit;
      })();
      return stopping;
    },
  };
}

/** A process of a tape: there is nothing to guard, and nothing of it is left. */
function playGuarded(handle: ProcessHandle): GuardedProcess {
  return { handle, stop: async () => handle.kill("SIGKILL") };
}
