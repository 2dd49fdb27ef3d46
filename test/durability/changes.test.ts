import { describe, expect, it } from "vitest";
import type { ModelBackend } from "#backends";
import { type AgentEvent, StartError, textDelta } from "#domain";
import { agent, type RunOptions, startRun, swarm } from "#runtime";
import { StoreError } from "#sessions";
import { assertRunLog, type VirtualClock } from "#testing";
import { tool } from "#tools";
import { resumeStored, startStored } from "../../src/runtime/stored-run.ts";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { startServer, testWorld } from "../server/support.ts";
import { modelOf, newWorld, type Step } from "./resumable.ts";
import { agentOf } from "./scripted-agent.ts";
import { begin, logOf, serve, statusOf, until } from "./serving.ts";

const SECRET = "canary-0123456789abcdef";
const secretWorld = () => ({ ...newWorld(), env: { SOME_API_KEY: SECRET } });
const steps: readonly Step[] = [
  { text: "I ask.", calls: [{ name: "work", input: { key: SECRET } }] },
  { text: "Done." },
];

/** A tool that notes what it is called with. */
function working(idempotent = false) {
  const keys: string[] = [];
  const work = tool("work", "Work", { key: "string" }, ({ key }) => keys.push(key), { idempotent });
  return { keys, tools: [work] };
}

const outputsOf = (log: readonly AgentEvent[]) =>
  log.flatMap((event) => (event.type === "tool-result" ? [event.output] : []));

async function advance(world: ReturnType<typeof newWorld>): Promise<void> {
  for (let tries = 0; tries < 50; tries += 1) await (world.clock as VirtualClock).advance(100);
}

describe("Runs that survive: a call whose arguments contain a secret", () => {
  it("holds the process while it is asked about, and its tool gets the secret", async () => {
    const { keys, tools } = working();
    const world = secretWorld();
    const store = createMemoryStore();
    const options: RunOptions = { tools, permissions: { ask: ["work"] }, limits: { parkMs: 1000 } };
    const run = startStored(store, modelOf(steps), "go", options, world);
    await advance(world);
    expect(run.toJSON()).toMatchObject({ state: "running" });
    const [question] = await store.listQuestions("local");
    expect(JSON.stringify(await store.read(run.id))).not.toContain(SECRET);
    expect(run.answer(question?.callId ?? "", { allow: true })).toBe(true);
    expect(await run.result()).toMatchObject({ status: "success" });
    expect(keys).toEqual([SECRET]);
  });

  it.each([
    { name: "a model", target: () => modelOf(steps), idempotent: false },
    { name: "a model with a tool that may run again", target: () => modelOf(steps), idempotent: true },
    {
      name: "an agent with its own loop and a tool that may run again",
      target: (process: string) => agentOf([{ name: "work", input: { key: SECRET } }], process),
      idempotent: true,
    },
  ])(
    "from every prefix of the log of $name: no tool gets the masked arguments, and the model is told",
    async ({ target, idempotent }) => {
      const store = createMemoryStore();
      const { tools } = working(idempotent);
      const first = startStored(store, target("first"), "go", { tools, permissions: { ask: ["work"] } }, secretWorld());
      first.on("permission", ({ callId, state }) => void (state === "asked" && first.answer(callId, { allow: true })));
      await first.result();
      await first.closed;
      const whole = await store.read(first.id);
      let told = 0;
      for (let cut = 0; cut < whole.length; cut += 1) {
        const past = whole.slice(0, cut);
        const { keys, tools: again } = working(idempotent);
        const resumed = { id: first.id, events: past };
        const options = { tools: again, permissions: { ask: ["work"] } };
        const run = startRun(target(`after-${cut}`), "go", options, secretWorld(), { resumed });
        run.on("permission", ({ callId, state }) => void (state === "asked" && run.answer(callId, { allow: true })));
        const log: AgentEvent[] = [];
        for await (const event of run) log.push(event);
        const where = `cut after ${cut} of ${whole.length} events`;
        expect(() => assertRunLog(log), where).not.toThrow();
        expect(new Set(keys), where).toEqual(new Set(keys.length > 0 ? [SECRET] : []));
        if (/secret|may have had its effect|before there was an answer|had begun/.test(String(outputsOf(log)[0])))
          told += 1;
      }
      expect(told).toBeGreaterThan(1);
    },
  );
});

describe("Runs that survive: another version continues the run", () => {
  it("a question about a tool that has gone is over: the model is told, and nothing waits", async () => {
    const store = createMemoryStore();
    const world = newWorld();
    const { tools } = working();
    const options = { tools, permissions: { ask: ["work"] }, limits: { parkMs: 1000 } };
    const run = startStored(store, modelOf(steps), "go", options, world);
    await advance(world);
    const [question] = await store.listQuestions("local");
    await store.addAnswer(run.id, { callId: question?.callId ?? "", at: 1, decision: { allow: true } });
    const next = await resumeStored(store, run.id, { target: modelOf(steps), tools: [] }, newWorld());
    expect(await next.result()).toMatchObject({ status: "success", text: "Done." });
    await next.closed;
    const log = await store.read(run.id);
    assertRunLog(log);
    expect(outputsOf(log)).toEqual(['Not run: there is no tool "work" any more.']);
    expect(await store.listQuestions("local")).toEqual([]);
  });

  const handOver = { name: "handoff", input: { to: "expert", message: "Please answer." } };
  const clerk = (handoffs: readonly string[]) =>
    agent({ name: "clerk", backend: modelOf([{ calls: [handOver] }], "clerk"), handoffs: [...handoffs] });
  const expert = (backend: ModelBackend = modelOf([{ text: "Answered." }], "expert")) =>
    agent({ name: "expert", backend });

  it("without an agent that was handed to it is refused, and its log is left for a version that has the agent", async () => {
    const whole: AgentEvent[] = [];
    for await (const event of startRun(swarm([clerk(["expert"]), expert()]), "go", {}, newWorld())) whole.push(event);
    const handedOver = whole.findIndex((event) => event.type === "tool-result") + 1;
    const ended = whole.findLastIndex((event) => event.type === "result");
    expect(ended - handedOver).toBeGreaterThan(4);
    for (let cut = handedOver; cut <= ended; cut += 1) {
      const store = createMemoryStore();
      await store.createRun({ id: whole[0]?.runId ?? "", createdAt: 1, settings: { messages: [userMessage] } });
      await store.append(whole[0]?.runId ?? "", whole.slice(0, cut));
      const resume = (agents: Parameters<typeof swarm>[0]) =>
        resumeStored(store, whole[0]?.runId ?? "", { target: swarm(agents) }, newWorld());
      const other = agent({ name: "other", backend: modelOf([{ text: "Other." }], "other") });
      const refused = await resume([clerk(["other"]), other]).catch((error: unknown) => error);
      expect(refused, `cut after ${cut}`).toBeInstanceOf(StartError);
      expect((refused as Error).message).toContain('The agent "expert" of this run is not there any more.');
      expect(await store.read(whole[0]?.runId ?? "")).toHaveLength(cut);
      const next = await resume([clerk(["expert"]), expert()]);
      expect(await next.result()).toMatchObject({ status: "success", text: "Answered." });
    }
  });

  it("on the server, a run without its agent ends as interrupted, with the reason", async () => {
    const store = createMemoryStore();
    let isAtWork = false;
    const hanging: ModelBackend = {
      ...modelOf([], "expert"),
      async *stream(_, signal) {
        yield [textDelta("half", 0, "I be")];
        isAtWork = true;
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      },
    };
    const serveAgents = (agents: Parameters<typeof swarm>[0]) => {
      const world = testWorld();
      return { ...startServer({ store, agents, target: "clerk", world }), clock: world.clock };
    };
    const first = serveAgents([clerk(["expert"]), expert(hanging)]);
    const runId = await begin(first);
    await until(async () => isAtWork);
    const closed = first.server.close();
    await first.clock.advance(60_000);
    await closed;
    const next = serveAgents([clerk([])]);
    await until(async () => (await statusOf(next, runId)) === "interrupted");
    const log = await logOf(store, runId);
    assertRunLog(log);
    expect(JSON.stringify(log.at(-1))).toContain("is not there any more");
  });
});

const userMessage = { id: "u1", role: "user", blocks: [{ type: "text", text: "go" }] } as const;

describe("Runs that survive: the last moment of a process", () => {
  it("the notice that the run is left is its last event, also while the mask holds back a text", async () => {
    const store = createMemoryStore();
    const leaving = new AbortController();
    let isAtWork = (): void => undefined;
    const atWork = new Promise<void>((resolve) => {
      isAtWork = resolve;
    });
    const hanging: ModelBackend = {
      ...modelOf([]),
      async *stream(_, signal) {
        yield [textDelta("half", 0, `I begin with ${SECRET.slice(0, 10)}`)];
        isAtWork();
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      },
    };
    const run = startStored(store, hanging, "go", {}, secretWorld(), { suspend: leaving.signal });
    await atWork;
    leaving.abort();
    await run.closed;
    const log = await store.read(run.id);
    expect(log.at(-2)).toMatchObject({ type: "text-delta" });
    expect(log.at(-1)).toMatchObject({ type: "notice", kind: "suspended" });
  });

  it.each([
    ["while a server closes", 0],
    ["after a server that closes has stopped waiting for its runs", 60_000],
  ])("a message that is accepted %s is answered by the next start", async (_, graceMs) => {
    const store = createMemoryStore();
    let isClosed = false;
    let accept = (): void => undefined;
    const accepted = new Promise<void>((resolve) => {
      accept = resolve;
    });
    const refuse = () => {
      if (isClosed) throw new StoreError("store-closed", "The store is closed.");
    };
    const slow: typeof store = {
      ...store,
      async listMessages(...given) {
        if (graceMs > 0) await accepted;
        return store.listMessages(...given);
      },
      async createRun(...given) {
        await accepted;
        refuse();
        return store.createRun(...given);
      },
      async append(...given) {
        await Promise.resolve();
        refuse();
        return store.append(...given);
      },
    };
    const first = serve({ store: slow, run: () => 1, ask: [] });
    const { id } = (await (await first.ask("POST", "/api/threads", {})).json()) as { id: string };
    const asked = first.ask("POST", `/api/threads/${id}/chat`, { input: "go" });
    for (let turn = 0; turn < 20; turn += 1) await new Promise((next) => setImmediate(next));
    const closed = first.server.close().then(() => (isClosed = true));
    await first.clock.advance(graceMs);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((next) => setImmediate(next));
    accept();
    await closed;
    await asked;
    const [run] = await store.listRuns({ threadId: id });
    const next = serve({ store, run: () => 1, ask: [] });
    await until(async () => (await statusOf(next, run?.id ?? "")) === "success");
    assertRunLog(await logOf(store, run?.id ?? ""));
  });
});
