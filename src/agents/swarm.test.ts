import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { assertRunLog, createScriptedBackend, createSeededRandom, createVirtualClock } from "#testing";
import { tool } from "#tools";
import { readInput } from "./input.ts";
import type { Leg } from "./leg.ts";
import { createRun, type Run } from "#run";
import { createRunSource, type RunPlan } from "./swarm.ts";

const ran: string[] = [];
const note = tool("note", "Note something", { text: "string" }, ({ text }) => {
  ran.push(text);
  return `noted ${text}`;
});

const handoff = (to: string, message = `over to ${to}`) => ({ name: "handoff", input: { to, message } });
const leg = (
  agent: string,
  script: Parameters<typeof createScriptedBackend>[0],
  more: Partial<Omit<Leg, "backend">> = {},
) => ({
  backend: createScriptedBackend(script, agent),
  fallback: [],
  agent,
  instructions: `You are ${agent}.`,
  tools: [note],
  limits: {},
  ...more,
});

function start(legs: readonly Leg[], more: Partial<RunPlan> = {}) {
  const clock = createVirtualClock();
  const random = createSeededRandom(7);
  const plan: RunPlan = {
    legs,
    context: undefined,
    limits: {},
    clock,
    random,
    price: async () => 0.25,
    ...more,
  };
  return {
    run: createRun(createRunSource(plan, readInput("go")), { clock, random, onListenerError: () => undefined }),
    clock,
  };
}

async function readLog(run: Run): Promise<AgentEvent[]> {
  const log: AgentEvent[] = [];
  for await (const event of run) log.push(event);
  assertRunLog(log);
  return log;
}

const handoffsOf = (log: readonly AgentEvent[]) => log.filter((event) => event.type === "handoff");
const resultsOf = (log: readonly AgentEvent[]) => log.filter((event) => event.type === "result");

describe("handoffs", () => {
  it("S2-25 AT-52 S2-24: A hands off to B, B to C: one handoff item each, one result per leg, one done", async () => {
    const a = leg("a", [{ calls: [handoff("b", "for b")] }], { handoffs: ["b"] });
    const b = leg("b", [{ calls: [handoff("c", "for c")] }], { handoffs: ["c"] });
    const c = leg("c", [{ text: "done by c" }]);
    const { run } = start([a, b, c]);
    const log = await readLog(run);
    expect(handoffsOf(log)).toMatchObject([
      { from: "a", to: "b", message: "for b", agent: "a" },
      { from: "b", to: "c", message: "for c", agent: "b" },
    ]);
    expect(resultsOf(log)).toMatchObject([
      { subtype: "handoff", agent: "a", isError: false },
      { subtype: "handoff", agent: "b" },
      { subtype: "success", agent: "c", text: "done by c" },
    ]);
    expect(log.filter((event) => event.type === "done")).toHaveLength(1);
    expect(await run.result()).toMatchObject({ status: "success", agent: "c", text: "done by c", turns: 3 });
  });

  it("AT-52 S2-33: each agent's instructions are only in its own requests, and it sees only the handoff message", async () => {
    const a = leg("a", [{ calls: [handoff("b", "only this")] }], { handoffs: ["b"] });
    const b = leg("b", [{ text: "ok" }]);
    const { run } = start([a, b]);
    await readLog(run);
    expect(a.backend.requests.map((request) => request.instructions)).toEqual(["You are a."]);
    expect(b.backend.requests.map((request) => request.instructions)).toEqual(["You are b."]);
    expect(b.backend.requests[0]?.messages.map((message) => message.blocks)).toEqual([
      [{ type: "text", text: "only this" }],
    ]);
  });

  it("a shared context contains everything before the handoff, with every call answered", async () => {
    const a = leg("a", [{ text: "Hm.", calls: [handoff("b")] }], { handoffs: ["b"] });
    const b = leg("b", [{ text: "ok" }]);
    await readLog(start([a, b], { handoffContext: "shared" }).run);
    const seen = b.backend.requests[0]?.messages ?? [];
    expect(seen.map((message) => message.role)).toEqual(["user", "assistant", "user", "user"]);
    expect(seen[2]?.blocks).toMatchObject([{ type: "tool-result", isError: false }]);
  });

  it("S2-2: calls before a handoff run; those after it are answered without running", async () => {
    ran.length = 0;
    const call = (text: string) => ({ name: "note", input: { text } });
    const a = leg("a", [{ calls: [call("one"), handoff("b"), call("two"), handoff("b")] }], { handoffs: ["b"] });
    const { run } = start([a, leg("b", [{ text: "ok" }])]);
    const log = await readLog(run);
    expect(ran).toEqual(["one"]);
    expect(log.filter((event) => event.type === "tool-result")).toMatchObject([
      { name: "note", isError: false },
      { name: "handoff", isError: false },
      { name: "note", isError: true, skipped: "handoff" },
      { name: "handoff", isError: true, skipped: "handoff" },
    ]);
    expect(handoffsOf(log)).toHaveLength(1);
  });

  it.each([
    ["an agent nobody knows", { to: "z", message: "hi" }, /no agent "z"/],
    ["an agent it may not hand to", { to: "c", message: "hi" }, /no agent "c"/],
    ["no agent", { message: "hi" }, /must name an agent/],
    ["an empty message", { to: "b", message: " " }, /must say/],
    ["arguments that are no object", "b", /must name an agent/],
  ])("AT-52 S2-32: a handoff to %s is an error result, and the agent continues", async (_, input, problem) => {
    const a = leg("a", [{ calls: [{ name: "handoff", input }] }, { text: "myself then" }], { handoffs: ["b"] });
    const { run } = start([a, leg("b", [{ text: "never" }]), leg("c", [])]);
    const log = await readLog(run);
    const [result] = log.filter((event) => event.type === "tool-result");
    expect(result).toMatchObject({ isError: true });
    expect(String(result?.output)).toMatch(problem);
    expect(await run.result()).toMatchObject({ status: "success", agent: "a", text: "myself then" });
  });

  it.each([
    ["limit", 3, { limits: { handoffs: 3 } }],
    ["default limit", 10, {}],
  ])("AT-52 S2-32: two agents that hand off to each other without end reach the %s of %i", async (_, count, given) => {
    const there = Array.from({ length: 20 }, () => ({ calls: [handoff("b")] }));
    const back = Array.from({ length: 20 }, () => ({ calls: [handoff("a")] }));
    const { run } = start([leg("a", there, { handoffs: ["b"] }), leg("b", back, { handoffs: ["a"] })], given);
    const log = await readLog(run);
    expect(handoffsOf(log)).toHaveLength(count);
    expect(await run.result()).toMatchObject({ status: "error", subtype: "error_max_handoffs" });
  });

  it("equal ids from the hosts of two agents do not collide", async () => {
    const a = leg("a", [{ calls: [handoff("b")] }], { handoffs: ["b"] });
    const b = leg("b", [{ calls: [{ name: "note", input: { text: "x" } }] }, { text: "ok" }]);
    const log = await readLog(start([a, b]).run);
    const ids = log.filter((event) => event.type === "tool-call").map((event) => event.callId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("an abort during the second leg ends the run as aborted", async () => {
    const hang = async function* (_: unknown, signal: AbortSignal) {
      yield [];
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    };
    const { run, clock } = start([leg("a", [{ calls: [handoff("b")] }], { handoffs: ["b"] }), leg("b", [hang])]);
    const finished = readLog(run);
    await clock.advance(1);
    await run.abort();
    await finished;
    expect((await run.result()).status).toBe("aborted");
  });
});

describe("budgets", () => {
  const busy = (turns: number) =>
    Array.from({ length: turns }, () => ({ calls: [{ name: "note", input: { text: "x" } }] }));

  it("a cost limit ends the run with its own subtype, and everything so far is kept", async () => {
    const { run } = start([leg("a", busy(9))], { limits: { costUsd: 0.7 } });
    await readLog(run);
    expect(await run.result()).toMatchObject({
      status: "error",
      subtype: "error_max_budget_usd",
      costUsd: 0.75,
      turns: 3,
      toolCalls: [{}, {}, {}],
    });
  });

  it("a token limit counts input and output tokens over all legs", async () => {
    const { run } = start([leg("a", [{ calls: [handoff("b")] }], { handoffs: ["b"] }), leg("b", busy(9))], {
      limits: { tokens: 30 },
    });
    await readLog(run);
    expect(await run.result()).toMatchObject({ subtype: "error_max_total_tokens", turns: 3 });
  });

  it("F-C13: a cost limit that cannot be enforced is reported once, however many agents there are", async () => {
    const { run } = start(
      [leg("a", [{ calls: [handoff("b")] }], { handoffs: ["b"] }), leg("b", [...busy(1), { text: "ok" }])],
      {
        limits: { costUsd: 1 },
        price: async () => undefined,
      },
    );
    const log = await readLog(run);
    expect(log.filter((event) => event.type === "handoff")).toHaveLength(1);
    expect(log.filter((event) => event.type === "warning")).toHaveLength(1);
  });

  it("a cost limit that cannot be enforced is reported once", async () => {
    const { run } = start([leg("a", [...busy(2), { text: "ok" }])], {
      limits: { costUsd: 1 },
      price: async () => undefined,
    });
    const log = await readLog(run);
    expect(log.filter((event) => event.type === "warning")).toMatchObject([
      { code: "option-ignored", message: expect.stringMatching(/price .* unknown/) },
    ]);
    expect((await run.result()).status).toBe("success");
  });

  it("a time limit ends a silent model and a running tool, and every call is answered", async () => {
    const slow = tool("note", "d", { text: "string" }, () => new Promise(() => undefined), { timeoutMs: 3_600_000 });
    const { run, clock } = start([leg("a", busy(1), { tools: [slow] })], { limits: { timeoutMs: 5000 } });
    const finished = readLog(run);
    await clock.advance(4999);
    expect(run.isComplete()).toBe(false);
    await clock.advance(1);
    const log = await finished;
    expect(log.filter((event) => event.type === "tool-result")).toHaveLength(1);
    expect(await run.result()).toMatchObject({ status: "error", subtype: "error_timeout", toolCalls: [{}] });
    expect(clock.pending()).toBe(0);
  });
});
