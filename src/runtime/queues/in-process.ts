/**
 * A queue in this process: for several servers in one process, and for tests.
 *
 * @module
 */
import { systemClock } from "#transports";
import { createQueueInProcess, type InProcessQueue } from "../../sessions/queues/in-process/in-process-queue.ts";

export type { JobsWanted, QueueCounts, QueuedJob, QueueErrorCode, RunQueue, TakenJob } from "#sessions";
export { isQueueError, QueueError } from "#sessions";
export type { InProcessQueue } from "../../sessions/queues/in-process/in-process-queue.ts";

/** How long a node that is cut off keeps its jobs. */
const LOCK_MS = 5000;

/**
 * Creates a queue in memory. Its jobs end with the process; the runs are in the store.
 *
 * @example
 * const queue = createInProcessQueue()
 * await queue.add({ runId: "run-1" })
 * const job = await queue.take({})
 * await job?.finish()
 */
export function createInProcessQueue(): InProcessQueue {
  return createQueueInProcess({ clock: systemClock, lockMs: LOCK_MS });
}
