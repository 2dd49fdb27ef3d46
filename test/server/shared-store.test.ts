import { describe, expect, it } from "vitest";
import { assertRunLog, createVirtualClock } from "#testing";
import { park } from "#tools";
import { createQueueInProcess } from "../../src/sessions/queues/in-process/in-process-queue.ts";
import { type Store, StoreError } from "#sessions";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { chat, createCluster, eventsOf, wake } from "./cluster.ts";

describe("servers that share a store and a queue", () => {
  it("a run that one of them accepts is worked on by another, and the reader sees all of it", async () => {
    const { store, node, until } = createCluster();
    const front = node(() => "never", { worker: false });
    let ran = 0;
    const back = node(() => (ran += 1));
    await wake(back);
    const { runId, text } = await chat(front);
    const events = eventsOf(await until(text));
    expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    expect(ran).toBe(1);
    const log = await store.read(runId);
    assertRunLog(log);
    expect(log.some((event) => event.type === "notice" && event.kind === "resumed")).toBe(false);
    expect((await store.findRun("local", runId))?.claim).toBeUndefined();
  });

  it("a question is answered at any of them, while the run is at work and after it was parked", async () => {
    for (const parkedFor of [0, 61_000]) {
      const { store, clock, node, until, untilTrue } = createCluster(["work"]);
      const front = node(() => "never", { worker: false });
      let ran = 0;
      const back = node(() => (ran += 1));
      await wake(back);
      const { runId, text } = await chat(front);
      await untilTrue(async () => (await store.listQuestions("local")).length === 1);
      await clock.advance(parkedFor);
      expect((await store.findRun("local", runId))?.isWaiting === true).toBe(parkedFor > 0);
      const [question] = await store.listQuestions("local");
      const path = `/api/runs/${runId}/permissions/${question?.callId}`;
      expect(await (await front.ask("POST", path, { allow: true })).json()).toEqual({ accepted: true });
      expect(await (await back.ask("POST", path, { allow: true })).json()).toEqual({ accepted: false });
      const events = eventsOf(await until(text));
      expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
      expect(ran).toBe(1);
      assertRunLog(await store.read(runId));
    }
  });

  it("the result of a parked call is given at any of them", async () => {
    const { store, node, until, untilTrue } = createCluster();
    const front = node(() => "never", { worker: false });
    await wake(node(() => park()));
    const { runId, text } = await chat(front);
    const callOf = async () => (await store.read(runId)).find((event) => event.type === "tool-call");
    await untilTrue(async () => (await callOf()) !== undefined);
    const path = `/api/runs/${runId}/results/${(await callOf())?.callId}`;
    const answer = await until(front.ask("POST", path, { output: 5 }));
    expect(await answer.json()).toEqual({ accepted: true });
    expect(eventsOf(await until(text)).at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    assertRunLog(await store.read(runId));
  });

  it("a run is aborted at any of them, and its worker stops", async () => {
    const { store, node, until, untilTrue } = createCluster();
    const front = node(() => "never", { worker: false });
    let ran = 0;
    await wake(node(() => new Promise(() => (ran += 1))));
    const { runId, text } = await chat(front);
    await untilTrue(() => ran === 1);
    expect(await (await front.ask("POST", `/api/runs/${runId}/abort`, {})).json()).toEqual({ accepted: true });
    expect(eventsOf(await until(text)).at(-1)).toMatchObject({ type: "done", result: { status: "aborted" } });
    assertRunLog(await store.read(runId));
    expect(await (await front.ask("POST", `/api/runs/${runId}/abort`, {})).json()).toEqual({ accepted: false });
  });

  it("the run of a node that is cut off goes on at another, and the first one writes nothing more", async () => {
    const { store, first, node, until, untilTrue } = createCluster();
    const front = node(() => "never", { worker: false });
    let ran = 0;
    let finish: (value: string) => void = () => undefined;
    const lost = first.connect();
    const slow = () =>
      new Promise((resolve) => {
        ran += 1;
        finish = resolve;
      });
    await wake(node(slow, {}, lost));
    const { runId, text } = await chat(front);
    await untilTrue(() => ran === 1);
    await wake(node(() => (ran += 1)));
    lost.cutOff();
    await untilTrue(async () => (await store.findRun("local", runId))?.isOver === true);
    finish("too late");
    const events = eventsOf(await until(text));
    expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    const log = await store.read(runId);
    assertRunLog(log);
    // The call may have begun, so it is not made again.
    expect(ran).toBe(1);
    expect(log).toContainEqual(expect.objectContaining({ type: "tool-result", skipped: "incomplete" }));
    expect(JSON.stringify(log)).not.toContain("too late");
  });

  it("shutting down gives runs to another node, without an end for their readers", async () => {
    const { store, node, until, untilTrue } = createCluster(["work"]);
    const front = node(() => "never", { worker: false });
    let ran = 0;
    const back = node(() => (ran += 1));
    await wake(back);
    const { runId, text } = await chat(front);
    await untilTrue(async () => (await store.listQuestions("local")).length === 1);
    await until(back.server.close());
    expect((await store.findRun("local", runId))?.claim).toBeUndefined();
    const [question] = await store.listQuestions("local");
    await front.ask("POST", `/api/runs/${runId}/permissions/${question?.callId}`, { allow: true });
    await wake(node(() => (ran += 1)));
    expect(eventsOf(await until(text)).at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    expect(ran).toBe(1);
    assertRunLog(await store.read(runId));
  });

  it("a run whose job was lost with the queue is added again", async () => {
    const { store, node, untilTrue } = createCluster();
    const nowhere = createQueueInProcess({ clock: createVirtualClock(), lockMs: 1 });
    const front = node(() => "never", { worker: false }, nowhere);
    const { runId } = await chat(front);
    await wake(node(() => "done"));
    await untilTrue(async () => (await store.findRun("local", runId))?.isOver === true);
    assertRunLog(await store.read(runId));
  });

  it.each([
    ["for a moment", 3],
    ["until the queue has given the run to another node, and beyond", 40],
  ])("a store that is away %s when a run is begun ends no run", async (_, times) => {
    const shared = createMemoryStore();
    let left = times;
    const shaky: Store = {
      ...shared,
      async findThread(tenant, id) {
        const [run] = await shared.listRuns({ isOver: false });
        if (run?.claim !== undefined && (left -= 1) >= 0) throw new StoreError("store-failed", "It does not answer.");
        return shared.findThread(tenant, id);
      },
    };
    const { node, until } = createCluster([], shaky);
    const front = node(() => "never", { worker: false });
    let ran = 0;
    await wake(node(() => (ran += 1)));
    const { runId, text } = await chat(front);
    expect(eventsOf(await until(text)).at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    expect(left).toBeLessThan(0);
    expect(ran).toBe(1);
    assertRunLog(await shared.read(runId));
  });

  it("readers are shown no end of a run whose stored events cannot be read back at once", async () => {
    const shared = createMemoryStore();
    let isAway = false;
    let faults = 0;
    const away = (): StoreError => new StoreError("store-failed", "It does not answer.");
    const shaky: Store = {
      ...shared,
      async append(runId, events, settlement, epoch) {
        await shared.append(runId, events, settlement, epoch);
        if (faults > 0 || !events.some(({ type }) => type === "tool-call")) return;
        // It is stored, and neither that is heard nor, for a while, anything else.
        faults += 1;
        isAway = true;
        throw away();
      },
      async read(runId, options) {
        if (!isAway) return shared.read(runId, options);
        isAway = false;
        throw away();
      },
    };
    const { node, until } = createCluster([], shaky);
    const { runId, text } = await chat(node(() => "done"));
    const events = eventsOf(await until(text));
    expect(faults).toBe(1);
    expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    const log = await shared.read(runId);
    expect(log).toContainEqual(events.at(-1));
    assertRunLog(log);
  });

  it("a run that a node takes while it shuts down is left to another one, and does not end", async () => {
    const shared = createMemoryStore();
    let isHeld = false;
    let letGo: (() => void) | undefined;
    const shaky: Store = {
      ...shared,
      async claim(runId, wanted) {
        const epoch = (await shared.claim?.(runId, wanted)) ?? 0;
        if (isHeld) return epoch;
        isHeld = true;
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
        return epoch;
      },
    };
    const { clock, node, until, untilTrue } = createCluster([], shaky);
    const front = node(() => "never", { worker: false });
    const leaving = node(() => "never", { limits: { shutdownMs: 100 } });
    await wake(leaving);
    const { runId, text } = await chat(front);
    await untilTrue(() => letGo !== undefined);
    const closed = leaving.server.close();
    await clock.advance(1000);
    letGo?.();
    await until(closed);
    let ran = 0;
    await wake(node(() => (ran += 1)));
    expect(eventsOf(await until(text)).at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    expect(ran).toBe(1);
    assertRunLog(await shared.read(runId));
  });

  it("a node that fails at a job gives it back", async () => {
    const shared = createMemoryStore();
    let left = 2;
    const shaky: Store = {
      ...shared,
      async releaseClaim(claim) {
        if ((left -= 1) >= 0) throw new Error("a fault that nobody expects");
        return (await shared.releaseClaim?.(claim)) ?? false;
      },
    };
    const { first, node, until, untilTrue } = createCluster([], shaky);
    const front = node(() => "never", { worker: false });
    await wake(node(() => "done"));
    const { text } = await chat(front);
    await until(text);
    await untilTrue(async () => (await first.connect().count()).active === 0);
  });

  it("a queue that does not answer is 503, and nothing is stored", async () => {
    const { store, first, node } = createCluster();
    const queue = first.connect();
    const front = node(() => "never", { worker: false }, queue);
    const made = (await (await front.ask("POST", "/api/threads", {})).json()) as { id: string };
    queue.cutOff();
    const response = await front.ask("POST", `/api/threads/${made.id}/chat`, { input: "go" });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await response.json()).toMatchObject({ error: { code: "store-unavailable" } });
    expect(await store.listRuns()).toEqual([]);
  });

  it("limits hold over all nodes", async () => {
    const { node } = createCluster();
    const limits = { runsPerTenant: 1 };
    const one = node(() => "never", { worker: false, limits });
    const two = node(() => "never", { worker: false, limits });
    await chat(one);
    const made = (await (await two.ask("POST", "/api/threads", {})).json()) as { id: string };
    expect((await two.ask("POST", `/api/threads/${made.id}/chat`, { input: "go" })).status).toBe(429);
  });

  it("F-A13: starts at the same moment exceed a tenant's limits by at most one for each further node", async () => {
    const { store, node } = createCluster();
    const limits = { runsPerTenant: 2, threadsPerTenant: 14 };
    const nodes = [1, 2, 3].map(() => node(() => "never", { worker: false, limits }));
    const at = (index: number) => nodes[index % nodes.length] as (typeof nodes)[number];
    const made: string[] = [];
    for (let index = 0; index < 12; index += 1) {
      made.push(((await (await at(index).ask("POST", "/api/threads", {})).json()) as { id: string }).id);
    }
    const statuses = async (answers: readonly Promise<Response>[]) =>
      (await Promise.all(answers)).map(({ status }) => status);
    const say = (id: string, index: number) => at(index).ask("POST", `/api/threads/${id}/chat`, { input: "go" });
    const started = (await statuses(made.map(say))).filter((status) => status === 200).length;
    expect(started).toBe((await store.listRuns({ isOver: false })).length);
    expect(started).toBeGreaterThanOrEqual(2);
    expect(started).toBeLessThanOrEqual(2 + nodes.length - 1);
    expect(await statuses(made.slice(-3).map(say))).not.toContain(200);
    const twelve = Array.from({ length: 12 }, (_, index) => at(index).ask("POST", "/api/threads", {}));
    const kept = 12 + (await statuses(twelve)).filter((status) => status === 201).length;
    expect(kept).toBe(await store.countThreads?.("local"));
    expect(kept).toBeGreaterThanOrEqual(14);
    expect(kept).toBeLessThanOrEqual(14 + nodes.length - 1);
  });

  it("F-A2: a result for a call that nobody has parked is refused, and the question about it can still be answered", async () => {
    const { store, node, until, untilTrue } = createCluster(["work"]);
    const front = node(() => "never", { worker: false });
    let ran = 0;
    const back = node(() => (ran += 1));
    await wake(back);
    const { runId, text } = await chat(front);
    await untilTrue(async () => (await store.listQuestions("local")).length === 1);
    const [question] = await store.listQuestions("local");
    const path = (what: string) => `/api/runs/${runId}/${what}/${question?.callId}`;
    for (const at of [front, back]) {
      const forged = await until(at.ask("POST", path("results"), { output: "forged" }));
      expect(await forged.json()).toEqual({ accepted: false });
    }
    expect(await (await front.ask("POST", path("permissions"), { allow: true })).json()).toEqual({ accepted: true });
    expect(await until(text)).not.toContain("forged");
    expect(ran).toBe(1);
    assertRunLog(await store.read(runId));
  });

  it("F-A2: a result for a call whose tool is at work is refused when the tool returns its own", async () => {
    const { store, node, until, untilTrue } = createCluster();
    const front = node(() => "never", { worker: false });
    let finish: (value: string) => void = () => undefined;
    const back = node(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    await wake(back);
    const { runId, text } = await chat(front);
    const callOf = async () => (await store.read(runId)).find((event) => event.type === "tool-call")?.callId;
    await untilTrue(async () => (await callOf()) !== undefined);
    const forged = front.ask("POST", `/api/runs/${runId}/results/${await callOf()}`, { output: "forged" });
    await untilTrue(async () => (await store.findRun("local", runId))?.claim !== undefined);
    finish("own");
    expect(await (await until(forged)).json()).toEqual({ accepted: false });
    expect(await until(text)).not.toContain("forged");
    expect(await store.listAnswers(runId)).toEqual([]);
  });

  it("F-A2: the unfinished runs of a chat in the same store are left to the chat", async () => {
    const { store, clock, first, node, untilTrue } = createCluster();
    await store.createThread({ id: "t", tenant: "millrace-chat", title: "", target: "clerk", createdAt: 1 });
    const message = { id: "m", role: "user", blocks: [{ type: "text", text: "go" }] } as const;
    await store.createRun({ id: "r", tenant: "millrace-chat", threadId: "t", createdAt: 1 }, [message]);
    let ran = 0;
    const back = node(() => (ran += 1));
    await wake(back);
    await clock.advance(60_000);
    // A node of an earlier version has added it.
    await first.connect().add({ runId: "r", kind: "any" });
    await untilTrue(async () => (await first.connect().count()).waiting === 0);
    await clock.advance(60_000);
    expect(ran).toBe(0);
    expect(await store.read("r")).toEqual([]);
  });
});
