import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openQueue } from "../../src/runtime/queues/pg-boss.ts";
import { checkQueue, type QueuePlace, type RunQueue } from "#testing";
import { systemClock } from "#transports";
import { type CutWire, openWire } from "../support/cut-wire.ts";
import { describePostgres } from "../support/postgres.ts";
import { temporaryFolder } from "../temporary-folder.ts";

describePostgres("the queue in Postgres", (postgres) => {
  async function createPlace(folder: string, url: string): Promise<QueuePlace> {
    const wires = new Map<RunQueue, CutWire>();
    return {
      clock: systemClock,
      lockMs: 10_000,
      async open() {
        const near = join(folder, `${wires.size}`);
        mkdirSync(near, { recursive: true });
        const wire = await openWire(join(postgres.folder, ".s.PGSQL.5432"), join(near, ".s.PGSQL.5432"));
        const queue = await openQueue(url.replace(encodeURIComponent(postgres.folder), encodeURIComponent(near)));
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

  it("fulfils the queue contract", { timeout: 600_000 }, async () => {
    const folder = temporaryFolder("wires");
    let places = 0;
    const failures = await checkQueue(async () => {
      places += 1;
      return createPlace(join(folder, `${places}`), await postgres.createDatabase());
    });
    expect(failures).toEqual([]);
  });

  it("keeps its jobs over a restart of Postgres, and holds what was taken", { timeout: 120_000 }, async () => {
    const queue = await openQueue(await postgres.createDatabase());
    await queue.add({ runId: "run-1" });
    const job = await queue.take({});
    await queue.add({ runId: "run-2" });
    await postgres.stop("immediate");
    await expect(queue.count()).rejects.toMatchObject({ code: "queue-failed" });
    expect(job?.lost.aborted).toBe(false);
    await postgres.start();
    const other = await queue.take({});
    expect(other?.runId).toBe("run-2");
    expect([await other?.finish(), await job?.finish()]).toEqual([true, true]);
    await queue.close();
  });

  it("may be opened by several nodes at the same time", { timeout: 120_000 }, async () => {
    const url = await postgres.createDatabase();
    const queues = await Promise.all([openQueue(url), openQueue(url), openQueue(url)]);
    const [one, two] = queues;
    await one?.add({ runId: "run-1" });
    const job = await two?.take({});
    expect(job?.runId).toBe("run-1");
    for (const queue of queues) await queue.close();
  });

  it("refuses a server that is not there within seconds, without the password", { timeout: 30_000 }, async () => {
    const away = openQueue("postgres://user:secret-password@127.0.0.1:1/none");
    await expect(away).rejects.toMatchObject({ name: "StartError", code: "invalid-option" });
    await away.catch((error: Error) => expect(error.message).not.toContain("secret-password"));
    await expect(openQueue("redis://127.0.0.1")).rejects.toMatchObject({ name: "StartError" });
    await expect(openQueue("postgres://127.0.0.1/x", { schema: "a b" })).rejects.toMatchObject({ name: "StartError" });
  });
});
