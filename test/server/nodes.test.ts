import { describe, expect, it, onTestFinished } from "vitest";
import { agent, command } from "#runtime";
import { createServer } from "#server";
import { assertRunLog } from "#testing";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { chat, createCluster, eventsOf, wake } from "./cluster.ts";
import { testWorld } from "./support.ts";

const LOCAL = "http://localhost";
const TOKENS = [
  { token: "a-token-of-tenant-one", tenant: "one" },
  { token: "a-token-of-tenant-two", tenant: "two" },
];
const asOne = { authorization: "Bearer a-token-of-tenant-one" };
const asTwo = { authorization: "Bearer a-token-of-tenant-two" };

describe("nodes of one queue", () => {
  it("a worker without an API works as soon as it is started, and answers probes and metrics only", async () => {
    const { store, node, until } = createCluster();
    const front = node(() => "never", { worker: false });
    const { runId, text } = await chat(front);
    let ran = 0;
    const back = node(() => (ran += 1), { worker: "only" });
    await back.server.start();
    expect(eventsOf(await until(text)).at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    expect(ran).toBe(1);
    assertRunLog(await store.read(runId));
    for (const path of ["/healthz", "/readyz", "/metrics"]) expect((await back.ask("GET", path)).status).toBe(200);
    for (const path of ["/", "/api/threads", `/api/runs/${runId}`, "/api/backends"]) {
      expect([path, (await back.ask("GET", path)).status]).toEqual([path, 404]);
    }
  });

  it("F-B11: any number of runs at one node cause no warning of Node's", async () => {
    const { node, until } = createCluster();
    const warnings: string[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning.name);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    let begun = 0;
    let finish: (value: string) => void = () => undefined;
    const finished = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const one = node(() => {
      begun += 1;
      if (begun === 15) finish("all of them work");
      return finished;
    });
    const chats = await Promise.all(Array.from({ length: 15 }, () => chat(one)));
    for (const { text } of chats) {
      expect(eventsOf(await until(text)).at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    }
    expect(warnings).toEqual([]);
  });

  it("a worker without an API may listen for others with a token for its metrics, and needs a queue", async () => {
    const { first } = createCluster();
    const given = { store: createMemoryStore(), page: false, world: testWorld() } as const;
    expect(() => createServer({ ...given, worker: "only" })).toThrow(/needs a queue/);
    expect(() => createServer({ ...given, worker: "never" as never })).toThrow(/worker is "never"/);
    expect(() => createServer({ ...given, node: "a b" })).toThrow(/node is "a b"/);
    const bare = createServer({ ...given, queue: first.connect(), worker: "only" });
    await expect(bare.listen({ host: "0.0.0.0" })).rejects.toThrow(/there is no token/);
    await bare.close();
    const metricsToken = "a-token-for-metrics";
    const served = createServer({
      ...given,
      store: createMemoryStore(),
      queue: first.connect(),
      worker: "only",
      metricsToken,
    });
    const get = async (headers = {}) =>
      (await served.fetch(new Request(`${LOCAL}/metrics`, { headers: { host: "localhost", ...headers } }))).status;
    expect([await get(), await get({ authorization: `Bearer ${metricsToken}` })]).toEqual([403, 200]);
    await served.close();
  });

  it("a run shows the name of the node that works on it, and of none when it is over", async () => {
    const { node, until, untilTrue } = createCluster();
    const front = node(() => "never", { worker: false, node: "front" });
    let finish: (value: string) => void = () => undefined;
    let ran = 0;
    const slow = () =>
      new Promise((resolve) => {
        ran += 1;
        finish = resolve;
      });
    await wake(node(slow, { node: "back-1" }));
    const { runId, text } = await chat(front);
    await untilTrue(() => ran === 1);
    const shown = await (await front.ask("GET", `/api/runs/${runId}`)).json();
    expect(shown).toMatchObject({ status: "running", node: "back-1" });
    expect(shown).not.toHaveProperty("claim");
    finish("done");
    await until(text);
    expect(await (await front.ask("GET", `/api/runs/${runId}`)).json()).not.toHaveProperty("node");
  });

  it("runs go to the nodes that offer their target and have its program", async () => {
    const { store, node, until, untilTrue } = createCluster();
    const lost = agent({ name: "lost", backend: command(["no-such-program-1"]) });
    const front = node(() => "never", { worker: false, targets: ["offline"] });
    const about = async () => {
      const { backends } = (await (await front.ask("GET", "/api/backends")).json()) as { backends: object[] };
      return backends;
    };
    // It has neither the program of the agent nor the target of the thread.
    await wake(node(() => "never", { agents: [lost], target: "lost" }));
    const { runId, text } = await chat(front);
    await untilTrue(async () => (await about()).length === 2);
    expect(await about()).toEqual([
      { target: "clerk", kind: "agent", available: false, reason: expect.stringMatching(/No node that is running/) },
      {
        target: "offline",
        kind: "backend",
        available: false,
        reason: expect.stringMatching(/No node that is running/),
      },
    ]);
    expect(await front.ask("GET", "/readyz")).toMatchObject({ status: 200 });
    expect((await store.findRun("local", runId))?.claim).toBeUndefined();
    await wake(node(() => "done"));
    expect(eventsOf(await until(text)).at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    await untilTrue(async () => JSON.stringify(await about()).includes('"clerk","kind":"agent","available":true'));
  });

  it("an agent that may hand over to one without its program here is left to other nodes", async () => {
    const { store, node, clock } = createCluster();
    const lost = agent({ name: "lost", backend: command(["no-such-program-1"]) });
    const first = agent({ name: "first", backend: "offline", handoffs: ["lost"] });
    const only = node(() => "never", { agents: [first, lost], target: "first" });
    const { runId } = await chat(only);
    await clock.advance(20_000);
    expect(await store.findRun("local", runId)).toMatchObject({ lastSeq: -1, isOver: false });
  });

  it.each([
    ["requests of one tenant", { requestsPerMinute: 6 }, "/api/threads", asOne, asTwo],
    ["wrong tokens of one address", { failuresPerMinute: 6 }, "/api/threads", { authorization: "Bearer x" }, asOne],
  ])("the limit on %s holds over all nodes, within a second", async (_, limits, path, blocked, free) => {
    const { node, clock } = createCluster();
    const nodes = ["a", "b", "c"].map((name) => node(() => "never", { limits, tokens: TOKENS, node: name }));
    const get = async (at: number, headers: Record<string, string>): Promise<number> =>
      (await nodes[at]?.ask("GET", path, undefined, headers))?.status ?? 0;
    for (const at of [0, 1, 2, 0, 1, 2]) expect(await get(at, blocked)).not.toBe(429);
    for (let step = 0; step < 50; step += 1) await clock.advance(50);
    for (const at of [0, 1, 2]) expect([at, await get(at, blocked)]).toEqual([at, 429]);
    expect(await get(0, free)).toBe(200);
    for (let step = 0; step < 62; step += 1) await clock.advance(1000);
    for (const at of [0, 1, 2]) expect([at, await get(at, blocked)]).not.toEqual([at, 429]);
  });

  it("the limit on streams holds over all nodes, within a second", async () => {
    const { node, clock } = createCluster(["work"]);
    const limits = { streamsPerTenant: 2 };
    const one = node(() => "done", { limits });
    const { runId } = await chat(one);
    const two = node(() => "done", { limits });
    await wake(two);
    await clock.advance(1000);
    await clock.advance(1000);
    const follow = (at: typeof one) => at.ask("GET", `/api/runs/${runId}/events`);
    const held = await follow(two);
    expect(held.status).toBe(200);
    for (let step = 0; step < 50; step += 1) await clock.advance(50);
    expect([(await follow(one)).status, (await follow(two)).status]).toEqual([429, 429]);
    await held.body?.cancel();
    for (let step = 0; step < 50; step += 1) await clock.advance(50);
    const again = await follow(one);
    expect(again.status).toBe(200);
    await again.body?.cancel();
  });

  it("the bytes of a tenant are counted over all nodes", async () => {
    const { node, until } = createCluster();
    const limits = { bytesPerTenant: 2000 };
    const one = node(() => "x".repeat(3000), { limits });
    const two = node(() => "never", { worker: false, limits });
    const { text } = await chat(one);
    await until(text);
    const response = await two.ask("POST", "/api/threads", {});
    expect([response.status, await response.json()]).toMatchObject([507, { error: { code: "storage-exceeded" } }]);
  });
});
