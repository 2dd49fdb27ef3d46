import { describe, expect, it } from "vitest";
import type { RunQueue } from "#sessions";
import { checkQueue, createVirtualClock, type QueuePlace } from "#testing";
import { createQueueInProcess, type InProcessQueue } from "./in-process-queue.ts";

const LOCK_MS = 5000;

/** What is changed about the nodes of one queue. */
type Fault = () => (queue: InProcessQueue) => Partial<RunQueue>;

/** A queue whose nodes are changed, to see that the suite notices. */
function placeWith(fault: Fault = () => () => ({})): QueuePlace {
  const change = fault();
  const clock = createVirtualClock(1_000_000);
  const first = createQueueInProcess({ clock, lockMs: LOCK_MS });
  const nodes = new Map<RunQueue, InProcessQueue>();
  return {
    clock,
    lockMs: LOCK_MS,
    open() {
      const node = first.connect();
      const queue = { ...node, ...change(node) };
      nodes.set(queue, node);
      return queue;
    },
    async cutOff(queue) {
      nodes.get(queue)?.cutOff();
      return () => undefined;
    },
  };
}

describe("createQueueInProcess", () => {
  it("fulfils the queue contract", async () => {
    expect(await checkQueue(() => placeWith())).toEqual([]);
  });

  it("leaves no timer behind", async () => {
    const clock = createVirtualClock();
    const queue = createQueueInProcess({ clock, lockMs: LOCK_MS });
    await queue.add({ runId: "a", notBefore: 5000 });
    const wait = queue.take({});
    await queue.close();
    expect(await wait).toBeUndefined();
    expect(clock.pending()).toBe(0);
  });

  it("takes a time that is further away than a timer can be set", async () => {
    const clock = createVirtualClock();
    const queue = createQueueInProcess({ clock, lockMs: LOCK_MS });
    const at = 2 ** 31 + 1000;
    await queue.add({ runId: "a", notBefore: at });
    const wait = queue.take({});
    await clock.advance(at - 1);
    expect((await queue.count()).delayed).toBe(1);
    await clock.advance(1);
    expect((await wait)?.runId).toBe("a");
  });

  it("lets a node that was cut off neither add nor finish", async () => {
    const clock = createVirtualClock();
    const queue = createQueueInProcess({ clock, lockMs: LOCK_MS });
    await queue.add({ runId: "a" });
    const job = await queue.take({});
    queue.cutOff();
    await expect(queue.add({ runId: "b" })).rejects.toMatchObject({ code: "queue-failed" });
    await expect(job?.finish()).rejects.toMatchObject({ code: "queue-failed" });
    expect(job?.lost.aborted).toBe(false);
    await clock.advance(LOCK_MS);
    expect(job?.lost.aborted).toBe(true);
    expect(await job?.finish()).toBe(false);
  });
});

/** Drivers with one fault each, and the rule that `checkQueue` must find broken. */
const BROKEN: readonly (readonly [string, string, Fault])[] = [
  [
    "forgets a run that is added while a node works on it",
    "a run that is added while a node works on it is taken once more afterwards, and not before",
    () => {
      const held = new Set<string>();
      return (queue) => ({
        add: async (job) => (held.has(job.runId) ? undefined : queue.add(job)),
        async take(wanted) {
          const job = await queue.take(wanted);
          if (job !== undefined) held.add(job.runId);
          return job;
        },
      });
    },
  ],
  [
    "hands out every kind",
    "a job is given only to those that want its kind",
    () => (queue) => ({
      take: ({ signal }) => queue.take({ kinds: ["any", "codex", "claude-code"], ...(signal && { signal }) }),
    }),
  ],
  [
    "takes no heed of times",
    "a job is not taken before its time",
    () => (queue) => ({ add: ({ notBefore: _, ...job }) => queue.add(job) }),
  ],
  [
    "keeps what a node holds that closes",
    "a node that closes gives back what it holds, and takes no more",
    () => () => ({ close: async () => undefined }),
  ],
  [
    "keeps what comes after the signal",
    "who stops waiting gets nothing and keeps nothing from others",
    () => (queue) => ({
      async take({ kinds, signal }) {
        const stopped = new Promise<undefined>((resolve) => {
          signal?.addEventListener("abort", () => resolve(undefined));
        });
        return signal?.aborted === true ? undefined : Promise.race([queue.take({ ...(kinds && { kinds }) }), stopped]);
      },
    }),
  ],
  [
    "says that it finished what it lost",
    "a job that is given back is taken again, also if its run was added meanwhile",
    () => (queue) => ({
      async take(wanted) {
        const job = await queue.take(wanted);
        return job && { ...job, finish: () => job.finish().then(() => true) };
      },
    }),
  ],
  [
    "never says that a job is lost",
    "the job of a node that is not heard of goes to another, and the first one can change nothing about it",
    () => (queue) => ({
      async take(wanted) {
        const job = await queue.take(wanted);
        return job && { ...job, isHandOver: false };
      },
    }),
  ],
  [
    "takes any name",
    "a job that cannot be is refused",
    () => (queue) => ({ add: (job) => queue.add(job).catch(() => undefined) }),
  ],
];

describe("checkQueue finds a driver that", () => {
  it.each(BROKEN)("%s", async (_, behaviour, fault) => {
    const failures = await checkQueue(() => placeWith(fault));
    expect(failures.map((failure) => failure.behaviour)).toContain(behaviour);
  });
});
