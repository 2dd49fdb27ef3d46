import type { Clock } from "#domain";
import { isQueueError, type JobsWanted, type QueuedJob, type RunQueue, type TakenJob } from "#sessions";
import { expectSame, expectThat, rejection } from "./conformance.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** An empty queue to test, and its surroundings. */
export interface QueuePlace {
  /** Another node's connection to the same jobs. The suite closes it. */
  open(): Promise<RunQueue> | RunQueue;
  /** The queue's clock. The suite advances a virtual clock while it waits. */
  readonly clock: Clock | VirtualClock;
  /** How long a job stays with a node that is not heard of. */
  readonly lockMs: number;
  /**
   * From now on the engine hears nothing of this node. Returns what connects it again. Without it, what happens to the
   * jobs of dead nodes is not tested.
   */
  cutOff?(queue: RunQueue): Promise<() => Promise<void> | void>;
  /** Removes what is left. */
  close?(): Promise<void> | void;
}

/** The place, the connections of one trial, and what the trial needs again and again. */
export interface QueueTrial {
  readonly place: QueuePlace;
  open(): Promise<RunQueue>;
  /** Waits, and advances a virtual clock meanwhile. */
  until<Value>(promise: Promise<Value>): Promise<Value>;
  /** The next job, which has to be there within a minute. */
  next(queue: RunQueue, wanted?: JobsWanted): Promise<TakenJob>;
  /** Takes the next job, which has to be this one, and finishes it. */
  work(queue: RunQueue, runId: string, wanted?: JobsWanted): Promise<void>;
  /** There is nothing more to take. */
  expectEmpty(queue: RunQueue): Promise<void>;
  /** Waits for this long. */
  pass(ms: number): Promise<void>;
}

const MINUTE = 60_000;
const STEP_MS = 50;

export function tryAt(place: QueuePlace): QueueTrial & { close(): Promise<void> } {
  const { clock } = place;
  const opened: RunQueue[] = [];

  const until = async <Value>(promise: Promise<Value>): Promise<Value> => {
    let state: "open" | "late" | "over" = "open";
    const end = (): void => {
      state = "over";
    };
    promise.then(end, end);
    let stop: (() => void) | undefined;
    const limit = new Promise<never>((_, reject) => {
      stop = clock.after(2 * MINUTE, () => {
        state = "late";
        reject(new Error("it did not happen within two minutes"));
      });
    });
    limit.catch(() => undefined);
    try {
      if (isVirtual(clock)) await clock.advance(0);
      while (isVirtual(clock) && state === "open") await clock.advance(STEP_MS);
      return await Promise.race([promise, limit]);
    } finally {
      stop?.();
    }
  };

  const next = async (queue: RunQueue, wanted: JobsWanted = {}): Promise<TakenJob> => {
    const patience = new AbortController();
    const stop = clock.after(MINUTE, () => patience.abort());
    try {
      const job = await until(queue.take({ signal: patience.signal, ...wanted }));
      if (job === undefined) throw new Error("no job was handed out within a minute");
      return job;
    } finally {
      stop();
    }
  };

  const work = async (queue: RunQueue, runId: string, wanted?: JobsWanted): Promise<void> => {
    const job = await next(queue, wanted);
    expectSame(job.runId, runId, "the next job");
    expectSame(await job.finish(), true, `finishing ${runId}`);
  };

  return {
    place,
    until,
    next,
    work,
    async open() {
      const queue = await place.open();
      opened.push(queue);
      return queue;
    },
    async expectEmpty(queue) {
      await queue.add({ runId: "the-last" });
      await work(queue, "the-last");
      expectSame(await queue.count(), { waiting: 0, delayed: 0, active: 0 }, "what is left");
    },
    pass: (ms) => until(new Promise((resolve) => clock.after(ms, resolve))),
    async close() {
      for (const queue of opened) await queue.close();
      await place.close?.();
    },
  };
}

export async function addAll(queue: RunQueue, ...jobs: readonly (string | QueuedJob)[]): Promise<void> {
  for (const job of jobs) await queue.add(typeof job === "string" ? { runId: job } : job);
}

export async function refusedBy(promise: Promise<unknown>, code: string, what: string): Promise<void> {
  const error = await rejection(promise, what);
  expectThat(
    isQueueError(error) && error.code === code,
    `${what} was refused with ${String(error)} instead of ${code}`,
  );
}

function isVirtual(clock: Clock | VirtualClock): clock is VirtualClock {
  return "advance" in clock;
}
