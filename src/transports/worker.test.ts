import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { startWorker } from "./worker.ts";

const SMALL = fileURLToPath(new URL("../../test/support/small-worker.mjs", import.meta.url));

describe("a worker", () => {
  it("answers one request after the other with the result of its program", async () => {
    const worker = startWorker(SMALL, { add: 10 });
    const answers = await Promise.all([worker.ask(1), worker.ask(2)]);
    expect(answers).toEqual([
      { sum: 11, asked: 1 },
      { sum: 12, asked: 2 },
    ]);
    await worker.close();
    await worker.close();
    expect(worker.isAlive).toBe(false);
    await expect(worker.ask(3)).rejects.toThrow("The worker has ended.");
  });

  it("answers pending requests before it is closed", async () => {
    const worker = startWorker(SMALL, { add: 21 });
    const answer = worker.ask(21);
    await worker.close();
    expect(await answer).toMatchObject({ sum: 42 });
  });

  it("one that fails ends: pending requests are rejected with the reason, and so is the next one", async () => {
    const worker = startWorker(SMALL, { add: 0 });
    const [first, second] = await Promise.allSettled([worker.ask(-1), worker.ask(2)]);
    expect(first).toMatchObject({ status: "rejected", reason: { message: "no -1" } });
    expect(second).toMatchObject({ status: "rejected" });
    expect(worker.isAlive).toBe(false);
    await expect(worker.ask(3)).rejects.toThrow();
    await worker.close();
  });

  it("a program that cannot start rejects the first request", async () => {
    const worker = startWorker(SMALL, { beginsWith: "no disk" });
    await expect(worker.ask(1)).rejects.toThrow("no disk");
    await worker.close();
  });

  it("a missing file rejects the first request", async () => {
    const worker = startWorker("/nowhere/worker.mjs", {});
    await expect(worker.ask(1)).rejects.toThrow("/nowhere/worker.mjs");
    await worker.close();
  });
});
