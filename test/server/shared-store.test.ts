import { describe, expect, it, onTestFinished } from "vitest";
import type { AgentEvent } from "#domain";
import { agent, type World } from "#runtime";
import type { ServerOptions } from "#server";
import type { RunQueue, Store } from "#sessions";
import { assertRunLog, createVirtualClock, type VirtualClock } from "#testing";
import { park, tool } from "#tools";
import { createQueueInProcess, type InProcessQueue } from "../../src/sessions/queues/in-process/in-process-queue.ts";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { modelOf } from "../durability/resumable.ts";
import { readFrames, readText, startServer, type TestServer, testWorld } from "./support.ts";

const STEPS = [{ text: "I work.", calls: [{ name: "work", input: { n: 1 } }] }, { text: "Done." }];

interface Cluster {
  readonly store: Store;
  readonly clock: VirtualClock;
  readonly first: InProcessQueue;
  /** Starts a node; `work` is what its tool does. */
  node(work: () => unknown, options?: Partial<ServerOptions>, queue?: RunQueue): TestServer;
  /** Advances the clock until it happens. */
  until<Value>(promise: Promise<Value>): Promise<Value>;
  /** Advances the clock until it holds. */
  untilTrue(check: () => Promise<boolean> | boolean): Promise<void>;
}

function createCluster(ask: readonly string[] = []): Cluster {
  const clock = createVirtualClock(1_700_000_000_000);
  const store = createMemoryStore();
  const first = createQueueInProcess({ clock, lockMs: 5000 });
  let nodes = 0;
  const until = async <Value>(promise: Promise<Value>): Promise<Value> => {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    for (let steps = 0; !isSettled && steps < 5000; steps += 1) await clock.advance(50);
    if (!isSettled) throw new Error("it did not happen");
    return promise;
  };
  return {
    store,
    clock,
    first,
    until,
    async untilTrue(check) {
      for (let steps = 0; steps < 5000 && !(await check()); steps += 1) await clock.advance(50);
      expect(await check()).toBe(true);
    },
    node(work, options = {}, queue = first.connect()) {
      nodes += 1;
      const world: World = { ...testWorld(nodes), clock };
      const clerk = agent({
        name: "clerk",
        backend: modelOf(STEPS),
        tools: [tool("work", "Work", { n: "number" }, work)],
        permissions: { ask, otherwise: "allow" },
      });
      const started = startServer({ store, agents: [clerk], target: "clerk", world, queue, ...options });
      onTestFinished(async () => {
        await until(started.server.close());
        await queue.close();
      });
      return started;
    },
  };
}

async function chat(at: TestServer): Promise<{ readonly runId: string; readonly text: Promise<string> }> {
  const made = (await (await at.ask("POST", "/api/threads", {})).json()) as { id: string };
  const response = await at.ask("POST", `/api/threads/${made.id}/chat`, { input: "go" });
  expect(response.status).toBe(200);
  return { runId: response.headers.get("x-run-id") ?? "", text: readText(response) };
}

/** The worker starts with the first request. */
const wake = (at: TestServer): Promise<Response> => at.ask("GET", "/api/threads");

const eventsOf = (text: string): AgentEvent[] =>
  readFrames(text)
    .filter(({ data }) => data !== "")
    .map(({ data }) => JSON.parse(data) as AgentEvent);

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
