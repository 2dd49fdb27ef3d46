/**
 * A queue in Redis, with BullMQ.
 *
 * @module
 */
import { checkOptionNames, StartError } from "#domain";
import { EngineQueue, type RunQueue } from "#sessions";
import { systemClock, systemRandom } from "#transports";
import { BullMqEngine, type BullQueue, type BullWorker } from "../../sessions/queues/bullmq/bullmq-engine.ts";
import { importPackage } from "./optional-package.ts";
import { connectRedis, REDIS_PACKAGES } from "./redis-client.ts";

export type { JobsWanted, QueueCounts, QueuedJob, QueueErrorCode, RunQueue, TakenJob } from "#sessions";
export { isQueueError, QueueError } from "#sessions";

/** The options of `openQueue`. */
export interface RedisQueueOptions {
  /** The beginning of all keys in Redis. Default `millrace`. */
  readonly prefix?: string;
}

/** A node that is not heard of keeps its jobs for this long. */
const LOCK_MS = 5000;
const STALLED_MS = 2500;
const REACH_MS = 4000;
const TIMES = { extendMs: 1500, pollMs: 20, answerMs: 3000 };

/** The engine gives up a job whose lock ended this often. A run that ends its process each time is given up by the server. */
const MOST_STALLED = 1_000_000;

/** How long a worker waits for a job before it asks again, in seconds. */
const WAIT_SECONDS = 2;

/**
 * Opens a queue in Redis 6.2 or later. Any number of nodes open the same one. Needs the packages `bullmq` and `ioredis`.
 * Rejects with a `StartError` that says what to do if Redis cannot be used.
 *
 * @example
 * const queue = await openQueue("redis://localhost:6379")
 */
export async function openQueue(url: string, options: RedisQueueOptions = {}): Promise<RunQueue> {
  checkOptionNames(options, ["prefix"] satisfies (keyof RedisQueueOptions)[], "openQueue");
  const { prefix = "millrace" } = options;
  if (!URL.canParse(url) || !/^rediss?:$/.test(new URL(url).protocol)) {
    throw new StartError("invalid-option", "The address of the queue must begin with redis:// or rediss://.");
  }
  const { Queue, Worker } = await importPackage(REDIS_PACKAGES, () => import("bullmq"));
  const client = await connectRedis(url, systemClock, { connectMs: REACH_MS, maxRetriesPerRequest: null });
  const kinds = `${prefix}:kinds`;
  const common = { connection: client, prefix };
  const engine = new BullMqEngine(
    {
      openQueue(name) {
        const queue = new Queue(name, common);
        queue.on("error", () => undefined);
        return queue as unknown as BullQueue;
      },
      openWorker(name) {
        const worker = new Worker(name, undefined, {
          ...common,
          autorun: false,
          lockDuration: LOCK_MS,
          stalledInterval: STALLED_MS,
          maxStalledCount: MOST_STALLED,
          drainDelay: WAIT_SECONDS,
        });
        worker.on("error", () => undefined);
        return worker as unknown as BullWorker;
      },
      listKinds: () => client.smembers(kinds),
      addKind: (kind) => client.sadd(kinds, kind),
      close: async () => client.disconnect(),
    },
    { clock: systemClock, newToken: () => systemRandom.id(), lockMs: LOCK_MS, readyMs: TIMES.answerMs },
  );
  return new EngineQueue(engine, { clock: systemClock, ...TIMES });
}
