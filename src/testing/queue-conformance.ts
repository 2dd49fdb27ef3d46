import type { TakenJob } from "#sessions";
import { expectSame, expectThat, type Failure, runTrials, type Trial } from "./conformance.ts";
import { addAll, type QueuePlace, type QueueTrial, refusedBy, tryAt } from "./queue-place.ts";

/**
 * Tests a queue driver against the contract of `RunQueue` and returns the failures. Works with any test runner.
 *
 * `createPlace` is called once per behaviour and returns a place without jobs.
 *
 * @example
 * const queue = createInProcessQueue()
 * const clock = { now: Date.now, after: (ms: number, fire: () => void) => () => clearTimeout(setTimeout(fire, ms)) }
 * const failures = await checkQueue(() => ({ open: () => queue.connect(), clock, lockMs: 5000 }))
 */
export function checkQueue(createPlace: () => Promise<QueuePlace> | QueuePlace): Promise<readonly Failure[]> {
  return runTrials(
    TRIALS.map(
      ([behaviour, attempt]): Trial<QueuePlace> => [
        behaviour,
        async (place) => {
          const trial = tryAt(place);
          try {
            await attempt(trial);
          } finally {
            await trial.close();
          }
        },
      ],
    ),
    createPlace,
  );
}

const HOUR = 3_600_000;

const TRIALS: readonly Trial<QueueTrial>[] = [
  [
    "of several that wait, each gets another job",
    async ({ open, until, place, expectEmpty }) => {
      const nodes = [await open(), await open(), await open()];
      const patience = new AbortController();
      const stop = place.clock.after(60_000, () => patience.abort());
      const taken = Promise.all(nodes.map((node) => node.take({ signal: patience.signal })));
      const names = ["a", "b", "c"];
      await addAll(nodes[0] as (typeof nodes)[0], ...names);
      const jobs = (await until(taken)).filter((job) => job !== undefined);
      stop();
      expectSame(jobs.map(({ runId }) => runId).sort(), names, "the jobs");
      expectSame(await Promise.all(jobs.map((job) => job.finish())), [true, true, true], "finishing them");
      for (const node of nodes) await expectEmpty(node);
    },
  ],
  [
    "every job of many is taken once, in the order in which they were added if one node takes them",
    async ({ open, next, expectEmpty }) => {
      const [one, two, three] = [await open(), await open(), await open()];
      const names = Array.from({ length: 24 }, (_, number) => `run-${number}`);
      await addAll(one, ...names.slice(0, 6));
      for (const name of names.slice(0, 6)) {
        const job = await next(two);
        expectSame([job.runId, job.kind, job.isHandOver], [name, "any", false], "the next job");
        await job.finish();
      }
      await Promise.all(names.slice(6).map((runId) => one.add({ runId })));
      const taken: string[] = [];
      for (let round = 0; round < 6; round += 1) {
        const jobs = [await next(one), await next(two), await next(three)];
        taken.push(...jobs.map(({ runId }) => runId));
        await Promise.all(jobs.map((job) => job.finish()));
      }
      expectSame(taken.sort(), names.slice(6).sort(), "the jobs");
      await expectEmpty(one);
    },
  ],
  [
    "a run that is queued is not queued twice",
    async ({ open, work, expectEmpty }) => {
      const [one, two] = [await open(), await open()];
      await Promise.all([one.add({ runId: "a" }), two.add({ runId: "a" }), one.add({ runId: "a" })]);
      await addAll(two, "a", "b");
      await work(one, "a");
      await work(one, "b");
      await expectEmpty(two);
    },
  ],
  [
    "a run that is added while a node works on it is taken once more afterwards, and not before",
    async ({ open, next, work, expectEmpty }) => {
      const [one, two] = [await open(), await open()];
      await one.add({ runId: "a" });
      const job = await next(one);
      await Promise.all([two.add({ runId: "a" }), one.add({ runId: "a" })]);
      await two.add({ runId: "b" });
      await work(two, "b");
      expectSame(await job.finish(), true, "finishing the first");
      await work(two, "a");
      await expectEmpty(one);
    },
  ],
  [
    "a job that is given back is taken again, also if its run was added meanwhile",
    async ({ open, next, work, expectEmpty }) => {
      const [one, two] = [await open(), await open()];
      await one.add({ runId: "a" });
      const job = await next(one);
      expectSame(await job.giveBack(), true, "giving it back");
      expectSame([await job.giveBack(), await job.finish(), await job.extend()], [false, false, false], "afterwards");
      const again = await next(two);
      expectSame([again.runId, again.isHandOver], ["a", false], "the job that was given back");
      await two.add({ runId: "a" });
      await again.giveBack();
      await work(one, "a");
      await addAll(one, "b");
      const last = await next(two);
      if (last.runId === "a") await work(two, "b");
      await last.finish();
      await expectEmpty(one);
    },
  ],
  [
    "a job is given only to those that want its kind",
    async ({ open, work, expectEmpty }) => {
      const [one, two] = [await open(), await open()];
      await addAll(one, { runId: "a", kind: "claude-code" }, "b", { runId: "c", kind: "codex" });
      await work(one, "b");
      await work(two, "c", { kinds: ["codex", "any"] });
      const kinds = ["any", "codex", "claude-code"];
      await work(two, "a", { kinds });
      await addAll(one, { runId: "d", kind: "codex" });
      await work(one, "d", { kinds });
      await expectEmpty(two);
    },
  ],
  [
    "a job is not taken before its time",
    async ({ open, place, next, work, expectEmpty }) => {
      const [one, two] = [await open(), await open()];
      const at = place.clock.now() + 1500;
      await addAll(one, { runId: "late", notBefore: at }, { runId: "past", notBefore: 1 }, "now");
      const first = [await next(two), await next(two)];
      expectSame(first.map(({ runId }) => runId).sort(), ["now", "past"], "the jobs that are due");
      for (const job of first) await job.finish();
      await work(two, "late");
      expectThat(place.clock.now() >= at, "the job was taken before its time");
      await expectEmpty(one);
    },
  ],
  [
    "of several times at which a run is added, the earliest counts",
    async ({ open, place, next, work }) => {
      const [one, two] = [await open(), await open()];
      const later = { runId: "a", notBefore: place.clock.now() + HOUR };
      await addAll(one, later, "a");
      await work(two, "a");
      await addAll(one, "a", later);
      const job = await next(two);
      await addAll(one, later, "a", later);
      await job.finish();
      await work(two, "a");
    },
  ],
  [
    "a run that is added for later while a node works on it is taken then",
    async ({ open, place, next, work, expectEmpty }) => {
      const [one, two] = [await open(), await open()];
      await one.add({ runId: "a" });
      const job = await next(one);
      const at = place.clock.now() + 1500;
      await two.add({ runId: "a", notBefore: at });
      await job.finish();
      await addAll(one, "b");
      await work(two, "b");
      await work(two, "a");
      expectThat(place.clock.now() >= at, "the job was taken before its time");
      await expectEmpty(one);
    },
  ],
  [
    "a node keeps a job for longer than a lock holds",
    async ({ open, place, next, work, expectEmpty }) => {
      const [one, two] = [await open(), await open()];
      await one.add({ runId: "a" });
      const job = await next(one);
      await one.add({ runId: "later", notBefore: place.clock.now() + place.lockMs * 2 });
      await work(two, "later");
      expectSame([await job.extend(), job.lost.aborted, await job.finish()], [true, false, true], "the first job");
      await expectEmpty(two);
    },
  ],
  [
    "the job of a node that is not heard of goes to another, and the first one can change nothing about it",
    async (trial) => {
      const { open, place, next, until, work, expectEmpty } = trial;
      if (place.cutOff === undefined) return;
      const [one, two] = [await open(), await open()];
      await addAll(one, "a", "b");
      const jobs = [await next(one), await next(one)] as const;
      const connect = await place.cutOff(one);
      const taken = [await next(two), await next(two)].sort((left, right) => (left.runId < right.runId ? -1 : 1));
      expectSame(
        taken.map(({ runId, isHandOver }) => [runId, isHandOver]),
        [
          ["a", true],
          ["b", true],
        ],
        "the jobs",
      );
      await connect();
      await until(Promise.all(jobs.map(whenLost)));
      const [a, b] = jobs;
      expectSame([await a.extend(), await a.finish(), await b.giveBack()], [false, false, false], "the first node");
      for (const job of taken) expectSame([await job.extend(), job.lost.aborted], [true, false], "the second node");
      await two.add({ runId: "a" });
      for (const job of taken) expectSame(await job.finish(), true, "finishing");
      await work(two, "a");
      await expectEmpty(two);
    },
  ],
  [
    "who stops waiting gets nothing and keeps nothing from others",
    async ({ open, next, until, expectEmpty }) => {
      const [one, two] = [await open(), await open()];
      expectThat((await one.take({ signal: AbortSignal.abort() })) === undefined, "a signal that fired is overlooked");
      const stop = new AbortController();
      const waits = [one.take({ signal: stop.signal }), one.take({ kinds: ["x", "any"], signal: stop.signal })];
      stop.abort();
      for (const wait of waits) expectThat((await until(wait)) === undefined, "a job came after the signal");
      await addAll(one, "a", "b");
      // What reached the node after its signal is given back, perhaps behind the others.
      const jobs = [await next(two), await next(two)];
      expectSame(jobs.map(({ runId }) => runId).sort(), ["a", "b"], "the jobs");
      for (const job of jobs) await job.finish();
      await expectEmpty(one);
    },
  ],
  [
    "a node that closes gives back what it holds, and takes no more",
    async ({ open, next, until, work, expectEmpty }) => {
      const [one, two] = [await open(), await open()];
      await addAll(one, "a", { runId: "b", kind: "x" });
      await next(one);
      const wait = one.take({ kinds: ["other"] });
      await until(Promise.all([one.close(), one.close()]));
      expectThat((await until(wait)) === undefined, "a node that closed got a job");
      await work(two, "a");
      await work(two, "b", { kinds: ["x"] });
      await expectEmpty(two);
      await refusedBy(one.add({ runId: "c" }), "queue-closed", "adding to a closed queue");
      await refusedBy(until(one.take({})), "queue-closed", "taking from a closed queue");
      await refusedBy(one.count(), "queue-closed", "counting a closed queue");
    },
  ],
  [
    "the number of jobs is told, by their state",
    async ({ open, place, next }) => {
      const [one, two] = [await open(), await open()];
      expectSame(await one.count(), { waiting: 0, delayed: 0, active: 0 }, "an empty queue");
      const later = { runId: "later", notBefore: place.clock.now() + HOUR };
      await addAll(one, "a", "b", { runId: "c", kind: "x" }, later);
      const job = await next(two, { kinds: ["x"] });
      const counts = { waiting: 2, delayed: 1, active: 1 };
      // Also from a node that has nothing to do with a kind.
      expectSame([await one.count(), await two.count()], [counts, counts], "the jobs");
      await job.finish();
      expectSame(await one.count(), { ...counts, active: 0 }, "after one was finished");
    },
  ],
  [
    "a job that cannot be is refused",
    async ({ open, until, expectEmpty }) => {
      const queue = await open();
      for (const runId of ["", "a b", "a:b", "a/b", "x".repeat(65), 7 as never]) {
        await refusedBy(queue.add({ runId }), "invalid-job", `the run id ${JSON.stringify(runId)}`);
      }
      await refusedBy(queue.add({ runId: "a", kind: "a:b" }), "invalid-job", "a kind");
      await refusedBy(queue.add({ runId: "a", notBefore: Number.NaN }), "invalid-job", "a time");
      await refusedBy(until(queue.take({ kinds: ["a b"] })), "invalid-job", "a kind that is wanted");
      await expectEmpty(queue);
    },
  ],
];

function whenLost({ lost }: TakenJob): Promise<void> {
  return new Promise((resolve) => {
    if (lost.aborted) resolve();
    else lost.addEventListener("abort", () => resolve(), { once: true });
  });
}
