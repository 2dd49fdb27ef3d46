import { describe, expect, it } from "vitest";
import { createVirtualClock } from "#testing";
import { type BullMq, BullMqEngine, type BullQueue } from "./bullmq-engine.ts";

const READY_MS = 3000;

/** An engine on a Redis server with a waiting job in every queue. */
function engineOver(addKind: (kinds: Set<string>, kind: string) => Promise<unknown>) {
  const clock = createVirtualClock();
  const kinds = new Set<string>();
  const queue: BullQueue = {
    add: async () => undefined,
    getJobCounts: async () => ({ wait: 1 }),
    close: async () => undefined,
  };
  const bull: BullMq = {
    openQueue: () => queue,
    openWorker: () => {
      throw new Error("no worker is needed");
    },
    listKinds: async () => [...kinds],
    addKind: (kind) => addKind(kinds, kind),
    close: async () => undefined,
  };
  return { clock, engine: new BullMqEngine(bull, { clock, newToken: () => "token", lockMs: 5000, readyMs: READY_MS }) };
}

describe("BullMqEngine", () => {
  it("counts the jobs of a kind that could not be listed when it was first used", async () => {
    let failures = 1;
    const { engine } = engineOver(async (kinds, kind) => {
      failures -= 1;
      if (failures >= 0) throw new Error("connection reset");
      kinds.add(kind);
    });
    await expect(engine.add({ runId: "a", kind: "codex" })).rejects.toThrow("connection reset");
    await engine.add({ runId: "a", kind: "codex" });
    expect(await engine.count()).toEqual({ waiting: 1, delayed: 0, active: 0 });
  });

  it("can be closed while the server does not answer", async () => {
    const { clock, engine } = engineOver(() => new Promise(() => undefined));
    const added = expect(engine.add({ runId: "a", kind: "codex" })).rejects.toThrow("3000 ms");
    const closed = engine.close();
    await clock.advance(READY_MS);
    await added;
    await closed;
  });
});
