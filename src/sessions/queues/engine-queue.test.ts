import { describe, expect, it } from "vitest";
import { createVirtualClock } from "#testing";
import { type EngineJob, EngineQueue, type QueueEngine } from "./engine-queue.ts";

const TIMES = { extendMs: 1000, pollMs: 100, answerMs: 3000 };

/** A job of an engine that notes what happens to it. */
function jobOf(runId: string, changes: Partial<EngineJob> = {}): EngineJob & { readonly calls: string[] } {
  const calls: string[] = [];
  const note = (call: string) => async (): Promise<boolean> => {
    calls.push(call);
    return true;
  };
  const noted = { extend: note("extend"), finish: note("finish"), giveBack: note("giveBack") };
  return { runId, kind: "any", isHandOver: false, ...noted, ...changes, calls };
}

function queueOver(engine: Partial<QueueEngine>) {
  const clock = createVirtualClock();
  const none = { waiting: 0, delayed: 0, active: 0 };
  const whole: QueueEngine = {
    add: async () => undefined,
    fetch: async () => undefined,
    count: async () => none,
    close: async () => undefined,
    ...engine,
  };
  return { clock, queue: new EngineQueue(whole, { clock, ...TIMES }) };
}

describe("EngineQueue", () => {
  it("extends the lock of a job until it is finished", async () => {
    const job = jobOf("a");
    const { clock, queue } = queueOver({ fetch: async () => job });
    const taken = await queue.take({});
    await clock.advance(2500);
    expect(job.calls).toEqual(["extend", "extend"]);
    expect(await taken?.finish()).toBe(true);
    await clock.advance(5000);
    expect(job.calls).toEqual(["extend", "extend", "finish"]);
    await queue.close();
  });

  it("does not take silence of the engine for a lost lock", async () => {
    let answer = (): Promise<boolean> => Promise.reject(new Error("connection reset"));
    const { clock, queue } = queueOver({ fetch: async () => jobOf("a", { extend: () => answer() }) });
    const taken = await queue.take({});
    await clock.advance(10_000);
    expect(taken?.lost.aborted).toBe(false);
    await expect(taken?.extend()).rejects.toMatchObject({ name: "QueueError", code: "queue-failed" });
    answer = () => new Promise(() => undefined);
    await clock.advance(10_000);
    expect(taken?.lost.aborted).toBe(false);
    answer = async () => false;
    await clock.advance(10_000);
    expect(taken?.lost.aborted).toBe(true);
    expect(await taken?.finish()).toBe(false);
  });

  it("says after a time that the engine does not answer", async () => {
    const { clock, queue } = queueOver({ add: () => new Promise(() => undefined) });
    const added = queue.add({ runId: "a" });
    const refused = expect(added).rejects.toMatchObject({ code: "queue-failed" });
    await clock.advance(TIMES.answerMs);
    await refused;
  });

  it("rejects those that wait when a fetch fails, and fetches again for the next", async () => {
    let fail = true;
    const { queue } = queueOver({
      fetch: async () => {
        if (fail) throw new Error("the server is away");
        return jobOf("a");
      },
    });
    await expect(queue.take({})).rejects.toMatchObject({ code: "queue-failed" });
    fail = false;
    expect((await queue.take({}))?.runId).toBe("a");
  });

  it("gives back a job that arrives when nobody waits any more", async () => {
    const job = jobOf("a");
    let deliver: (job: EngineJob) => void = () => undefined;
    const { clock, queue } = queueOver({
      fetch: () =>
        new Promise((resolve) => {
          deliver = resolve;
        }),
    });
    const stop = new AbortController();
    const wait = queue.take({ signal: stop.signal });
    stop.abort();
    expect(await wait).toBeUndefined();
    deliver(job);
    await clock.advance(0);
    expect(job.calls).toEqual(["giveBack"]);
  });

  it("looks again at once when a job is added here, and otherwise after a while", async () => {
    let looks = 0;
    const { clock, queue } = queueOver({
      fetch: async () => {
        looks += 1;
        return undefined;
      },
    });
    const wait = queue.take({});
    await clock.advance(TIMES.pollMs);
    expect(looks).toBe(2);
    await queue.add({ runId: "a" });
    await clock.advance(0);
    expect(looks).toBe(3);
    await queue.close();
    expect(await wait).toBeUndefined();
  });
});
