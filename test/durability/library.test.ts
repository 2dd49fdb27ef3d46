import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { mayTakeEffect } from "#run";
import { StoreError } from "#sessions";
import { assertRunLog, type VirtualClock } from "#testing";
import { tool } from "#tools";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { resumeStored, startStored } from "../../src/runtime/stored-run.ts";
import { modelOf, newWorld } from "./resumable.ts";

const steps = [{ text: "I ask.", calls: [{ name: "work", input: { n: 1 } }] }, { text: "Done." }];

describe("Runs that survive: runStored and resumeRun", () => {
  it("stores every event, and no tool starts before its call is stored", async () => {
    const store = createMemoryStore();
    let stored: readonly string[] = [];
    let runId = "";
    const work = tool("work", "Work", { n: "number" }, async () => {
      stored = (await store.read(runId)).map(({ type }) => type);
      return 1;
    });
    const run = startStored(store, modelOf(steps), "go", { tools: [work] }, newWorld());
    runId = run.id;
    const result = await run.result();
    await run.closed;
    expect(stored).toContain("tool-call");
    const log = await store.read(runId);
    assertRunLog(log);
    expect(log.at(-1)).toMatchObject({ type: "done", result: { text: result.text } });
  });

  it("without a store nothing waits before a tool: not even a promise is created", () => {
    const controller = new AbortController();
    const { signal } = controller;
    expect(mayTakeEffect({ signal })).toBe(true);
    expect(mayTakeEffect({ signal, commit: async () => true })).toBeInstanceOf(Promise);
    controller.abort();
    expect(mayTakeEffect({ signal })).toBe(false);
  });

  it("a tool whose call cannot be stored never starts, and the run ends with an error", async () => {
    const kept = createMemoryStore();
    let appends = 0;
    const store = {
      ...kept,
      append: async (...given: Parameters<typeof kept.append>) => {
        appends += 1;
        if (appends > 0) throw new StoreError("unknown-run", "gone");
        return kept.append(...given);
      },
    };
    let ran = 0;
    const work = tool("work", "Work", { n: "number" }, () => (ran += 1));
    const run = startStored(store, modelOf(steps), "go", { tools: [work] }, newWorld());
    const result = await run.result();
    expect(ran).toBe(0);
    expect(result).toMatchObject({ status: "error", subtype: "store-failed", error: { code: "store-failed" } });
  });

  it.each(["unknown-run", "store-failed"] as const)(
    "F-B14: a store that fails (%s) at any append leaves no run that calls itself a success with an incomplete log",
    async (code) => {
      for (let failsAt = 1; ; failsAt += 1) {
        const kept = createMemoryStore();
        let appends = 0;
        const store = {
          ...kept,
          append: async (...given: Parameters<typeof kept.append>) => {
            appends += 1;
            if (appends >= failsAt) throw new StoreError(code, "The disk is full.");
            return kept.append(...given);
          },
        };
        const world = newWorld();
        const work = tool("work", "Work", { n: "number" }, () => 1);
        const run = startStored(store, modelOf(steps), "go", { tools: [work] }, world);
        const log: AgentEvent[] = [];
        run.on("*", (event) => log.push(event));
        while (!run.isComplete()) await (world.clock as VirtualClock).advance(100);
        const result = await run.result();
        assertRunLog(log);
        const stored = await kept.read(run.id);
        if (result.status === "success") {
          // Only `done` itself may be missing: `resumeRun` then ends the run as its handle did.
          expect(stored.at(-1)).toMatchObject({ type: "result", isError: false });
          return;
        }
        expect(result).toMatchObject({ status: "error", subtype: "store-failed" });
        expect(result.error?.message).toContain("The disk is full.");
        expect(failsAt).toBeLessThan(20);
      }
    },
  );

  it("a run that cannot be created in the store ends with an error, and nothing is asked", async () => {
    const kept = createMemoryStore();
    const store = {
      ...kept,
      createRun: async () => Promise.reject(new StoreError("store-failed", "The disk is full.")),
    };
    const result = await startStored(store, modelOf(steps), "go", {}, newWorld()).result();
    expect(result).toMatchObject({ status: "error", error: { message: expect.stringContaining("The disk is full.") } });
    expect(result.messages).toEqual([]);
  });

  it("continues a parked run with the stored answer, in one log", async () => {
    const store = createMemoryStore();
    const options = { tools: [tool("work", "Work", { n: "number" }, () => 1)], permissions: { ask: ["work"] } };
    const world = newWorld();
    const run = startStored(store, modelOf(steps), "go", { ...options, limits: { parkMs: 1000 } }, world);
    const parking = run.parked();
    for (let tries = 0; tries < 50; tries += 1) await (world.clock as VirtualClock).advance(100);
    const parked = await parking;
    const callId = parked?.calls[0]?.callId as string;
    expect(await store.findRun("local", run.id)).toMatchObject({ isWaiting: true });
    expect(await store.addAnswer(run.id, { callId, at: 1, decision: { allow: true } })).toBe(true);
    const target = modelOf(steps);
    const next = await resumeStored(store, run.id, { target, ...options }, newWorld());
    expect((await next.result()).text).toBe("Done.");
    await next.closed;
    assertRunLog(await store.read(run.id));
    await expect(resumeStored(store, run.id, { target }, newWorld())).rejects.toThrow(/it is over/);
    await expect(resumeStored(store, "nothing", { target }, newWorld())).rejects.toThrow(/no such run/);
    await expect(resumeStored(store, run.id, { target, tols: [] } as never, newWorld())).rejects.toThrow(/tols/);
  });

  it("two processes that continue the same run: the store refuses the events of the second", async () => {
    const store = createMemoryStore();
    await store.createRun({
      id: "r1",
      createdAt: 1,
      settings: { messages: [{ id: "u", role: "user", blocks: [{ type: "text", text: "go" }] }] },
    });
    const target = modelOf([{ text: "One." }]);
    const runs = await Promise.all([1, 2].map(() => resumeStored(store, "r1", { target }, newWorld())));
    const statuses = (await Promise.all(runs.map((run) => run.result()))).map(({ status }) => status);
    await Promise.all(runs.map((run) => run.closed));
    expect(statuses).toContain("success");
    assertRunLog(await store.read("r1"));
  });
});
