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
  const { clock, random } = world;
  const tag = { name: RUN_TAG_VARIABLE, value: random.id() };
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
        await stopProcess(handle, { clock, tag, immediate: true, table });
        watchdog?.release(tag);
        await handle.exit;
      })();
      return stopping;
    },
  };
}
