import { expect, it } from "vitest";
import { openQueue } from "../../src/runtime/queues/bullmq.ts";
import { checkQueue, type QueuePlace, type RunQueue } from "#testing";
import type { TakenJob } from "#sessions";
import { systemClock } from "#transports";
import { type CutWire, openWire } from "../support/cut-wire.ts";
import { describeRedis } from "../support/redis.ts";

describeRedis("the queue in Redis", (redis) => {
  let places = 0;

  function createPlace(): QueuePlace {
    places += 1;
    const prefix = `place-${places}`;
    const wires = new Map<RunQueue, CutWire>();
    return {
      clock: systemClock,
      lockMs: 5000,
      async open() {
        const wire = await openWire(redis.port);
        const queue = await openQueue(`redis://127.0.0.1:${wire.port}`, { prefix });
        wires.set(queue, wire);
        return queue;
      },
      async cutOff(queue) {
        wires.get(queue)?.cut();
        return () => wires.get(queue)?.mend();
      },
      async close() {
        for (const wire of wires.values()) await wire.close();
      },
    };
  }

  it("fulfils the queue contract", { timeout: 300_000 }, async () => {
    expect(await checkQueue(createPlace)).toEqual([]);
  });

  it("keeps its jobs over a restart of Redis, and holds what was taken", { timeout: 120_000 }, async () => {
    const queue = await openQueue(redis.url, { prefix: "restarted" });
    await queue.add({ runId: "run-1" });
    const job = await queue.take({});
    const takeOther = (): Promise<TakenJob | undefined> => queue.take({ kinds: ["other"] }).catch(takeOther);
    const wait = takeOther();
    await redis.stop("SIGKILL");
    await expect(queue.count()).rejects.toMatchObject({ code: "queue-failed" });
    expect(job?.lost.aborted).toBe(false);
    await redis.start();
    await queue.add({ runId: "run-2", kind: "other" });
    const other = await wait;
    expect(other?.runId).toBe("run-2");
    expect(await other?.finish()).toBe(true);
    await queue.close();
  });

  it("refuses a server that is not there within seconds, without the password", { timeout: 30_000 }, async () => {
    const away = openQueue("redis://user:secret-password@127.0.0.1:1");
    await expect(away).rejects.toMatchObject({ name: "StartError", code: "invalid-option" });
    await away.catch((error: Error) => expect(error.message).not.toContain("secret-password"));
    await expect(openQueue("http://127.0.0.1")).rejects.toMatchObject({ name: "StartError" });
  });
});
