import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  type Chunk,
  errorItem,
  messageItem,
  startItem,
  textDelta,
  toolCallItem,
  toolResultItem,
} from "#domain";
import { createDeferred } from "#streams";
import {
  assertRunLog,
  createScriptedBackend,
  createSeededRandom,
  createVirtualClock,
  type ScriptedBackend,
} from "#testing";
import { tool } from "#tools";
import { readInput } from "./input.ts";
import { createRun, type Run } from "#run";
import type { Leg } from "./leg.ts";
import { createRunSource, type RunPlan } from "./swarm.ts";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);
const call = (a: number, b: number) => ({ name: "add", input: { a, b } });

function start(backend: ScriptedBackend, more: Partial<Leg & Omit<RunPlan, "limits">> = {}) {
  const clock = createVirtualClock();
  const random = createSeededRandom(7);
  const leg: Leg = { backend, fallback: [], tools: [add], limits: {}, ...more };
  const plan: RunPlan = {
    legs: [leg],
    context: undefined,
    clock,
    random,
    price: async () => undefined,
    ...more,
    limits: {},
  };
  const run = createRun(createRunSource(plan, readInput("go")), { clock, random, onListenerError: () => undefined });
  return { run, clock };
}

async function readLog(run: Run): Promise<AgentEvent[]> {
  const log: AgentEvent[] = [];
  for await (const event of run) log.push(event);
  assertRunLog(log);
  return log;
}

const types = (log: readonly AgentEvent[]): string[] => log.map((event) => event.type);

const failWith = (
  code: "provider-overloaded" | "provider-invalid-request" | "provider-auth",
  more: object = {},
): Chunk[] => [errorItem({ code, message: code, terminal: true, ...more })];

describe("the runner", () => {
  it("C6 S2-4 S2-20 AT-46 S2-7 S2-19: awaiting and iterating give the same result, with text only and with tools; it is completed once, at the end", async () => {
    const scripts = [[{ text: "hello" }], [{ text: "I add.", calls: [{ ...call(1, 2), id: "c1" }] }, { text: "3" }]];
    for (const script of scripts) {
      const iterated = start(createScriptedBackend(script)).run;
      const log = await readLog(iterated);
      const waited = await start(createScriptedBackend(script)).run.result();
      expect(types(log).filter((type) => type === "done")).toHaveLength(1);
      expect(log.at(-1)).toMatchObject({ type: "done", result: waited });
      expect(await iterated.result()).toEqual(waited);
    }
  });

  it("S2-19: a run with text only has one verdict, one done, and the user's message first in the transcript", async () => {
    const backend = createScriptedBackend([{ text: "hello" }]);
    const { run } = start(backend, { instructions: "Be brief." });
    const log = await readLog(run);
    expect(types(log)).toEqual(["start", "message", "text-delta", "message", "result", "done"]);
    expect(log[0]).toMatchObject({ backend: "scripted", model: "script", tools: ["add"] });
    const result = await run.result();
    expect(result).toMatchObject({
      status: "success",
      text: "hello",
      turns: 1,
      usage: { inputTokens: 10, outputTokens: 2 },
    });
    expect(result.messages.map((message) => message.role)).toEqual(["user", "assistant"]);
    expect(backend.requests[0]).toMatchObject({ instructions: "Be brief." });
  });

  it("AT-48 S2-2: all calls of a turn are recorded before any of them runs; results come in the order of the calls", async () => {
    const order: string[] = [];
    const slow = tool("slow", "Waits", { n: "number" }, async ({ n }) => {
      order.push(`run ${n}`);
      return n;
    });
    const calls = [1, 2, 3].map((n) => ({ name: "slow", input: { n } }));
    const backend = createScriptedBackend([{ text: "Three.", calls }, { text: "done" }]);
    const { run } = start(backend, { tools: [slow] });
    run.on("tool-call", () => order.push("call"));
    run.on("tool-result", (event) => order.push(`result ${String(event.output)}`));
    await readLog(run);
    expect(order).toEqual(["call", "call", "call", "run 1", "run 2", "run 3", "result 1", "result 2", "result 3"]);
    const second = backend.requests[1]?.messages ?? [];
    expect(second.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
    expect(second[1]?.blocks.map((block) => block.type)).toEqual(["text", "tool-call", "tool-call", "tool-call"]);
    expect(second[2]?.blocks.map((block) => block.type === "tool-result" && block.output)).toEqual([1, 2, 3]);
  });

  it("S2-1 S4-34 AT-47 S2-18: a reader sees each call before its tool has finished, and the result only afterwards", async () => {
    const seen: string[] = [];
    const states: string[][] = [];
    const slow = tool("slow", "Waits", { n: "number" }, async ({ n }) => {
      // Gives readers time to receive all events so far.
      await new Promise((resolve) => setImmediate(resolve));
      states.push([...seen]);
      return n;
    });
    const calls = [1, 2, 3].map((n) => ({ name: "slow", input: { n }, id: `c${n}` }));
    const { run } = start(createScriptedBackend([{ calls }, { text: "done" }]), { tools: [slow] });
    for await (const event of run) {
      if (event.type === "tool-call") seen.push(`call ${event.callId}`);
      if (event.type === "tool-result") seen.push(`result ${event.callId}`);
    }
    const all = ["call c1", "call c2", "call c3"];
    expect(states.map((state) => state.slice(0, 3))).toEqual([all, all, all]);
    expect(states.map((state, at) => state.includes(`result c${at + 1}`))).toEqual([false, false, false]);
    expect(seen).toEqual([...all, "result c1", "result c2", "result c3"]);
  });

  it("AT-48 S2-21 S2-22: without parallelToolCalls, the transcript has each call directly before its result; a single call looks the same with it", async () => {
    const calls = [call(1, 1), call(2, 2), call(3, 3)];
    const roles = async (parallelToolCalls: boolean, made: typeof calls) => {
      const backend = createScriptedBackend([{ text: "Now.", calls: made }, { text: "ok" }]);
      await readLog(start(backend, { parallelToolCalls }).run);
      return backend.requests[1]?.messages.map((message) => message.blocks.map((block) => block.type).join("+"));
    };
    expect(await roles(true, calls)).toEqual([
      "text",
      "text+tool-call+tool-call+tool-call",
      "tool-result+tool-result+tool-result",
    ]);
    expect(await roles(false, calls)).toEqual([
      "text",
      "text+tool-call",
      "tool-result",
      "tool-call",
      "tool-result",
      "tool-call",
      "tool-result",
    ]);
    expect(await roles(false, [call(1, 1)])).toEqual(await roles(true, [call(1, 1)]));
  });

  it("C7 S2-21: with a concurrency of 1, calls run one after the other; each result comes before the next call begins", async () => {
    const order: string[] = [];
    const slow = tool("slow", "Waits", { n: "number" }, async ({ n }) => {
      order.push(`run ${n}`);
      return n;
    });
    const calls = [1, 2, 3].map((n) => ({ name: "slow", input: { n } }));
    const { run } = start(createScriptedBackend([{ calls }, { text: "ok" }]), { tools: [slow], toolConcurrency: 1 });
    run.on("tool-result", (event) => order.push(`result ${String(event.output)}`));
    await readLog(run);
    expect(order).toEqual(["run 1", "result 1", "run 2", "result 2", "run 3", "result 3"]);
  });

  it("S2-34: unknown tools and invalid arguments become error results, and the loop continues", async () => {
    const backend = createScriptedBackend([
      {
        calls: [
          { name: "nobody", input: {} },
          { name: "add", input: { a: "x" } },
        ],
      },
      { text: "sorry" },
    ]);
    const log = await readLog(start(backend).run);
    const results = log.filter((event) => event.type === "tool-result");
    expect(results.map((event) => event.isError)).toEqual([true, true]);
    expect(results[0]?.output).toContain("Use one of: add.");
  });

  it("a call that the format has already answered (bad JSON) is not run, and the model gets the error", async () => {
    let ran = 0;
    const counted = tool("add", "d", {}, () => {
      ran += 1;
    });
    const reply: Chunk[] = [
      messageItem({
        id: "m",
        role: "assistant",
        stopReason: "tool-use",
        blocks: [{ type: "tool-call", callId: "c", name: "add", input: '{"a": 1' }],
      }),
      toolCallItem({ callId: "c", name: "add", input: '{"a": 1', executedBy: "millrace" }),
      toolResultItem({ callId: "c", name: "add", output: "not JSON", isError: true, skipped: "incomplete" }),
    ];
    const backend = createScriptedBackend([reply, { text: "ok" }]);
    await readLog(start(backend, { tools: [counted] }).run);
    expect(ran).toBe(0);
    expect(backend.requests[1]?.messages.at(-1)?.blocks).toMatchObject([
      { type: "tool-result", callId: "c", isError: true },
    ]);
  });

  it("S2-32: the turn limit ends the run with its own subtype, and everything so far is kept", async () => {
    const { run } = start(createScriptedBackend([{ text: "again", calls: [call(1, 2)] }]), { limits: { turns: 3 } });
    await readLog(run);
    expect(await run.result()).toMatchObject({
      status: "error",
      subtype: "error_max_turns",
      turns: 3,
      text: "again",
    });
  });

  it("S2-32: without a limit, an agent that never stops is ended after 50 replies", async () => {
    const backend = createScriptedBackend([{ text: "again", calls: [call(1, 2)] }]);
    const { run } = start(backend);
    await readLog(run);
    expect(await run.result()).toMatchObject({ subtype: "error_max_turns", turns: 50 });
    expect(backend.requests).toHaveLength(50);
  });

  it("a forced tool is forced in the first turn only", async () => {
    const backend = createScriptedBackend([{ calls: [call(1, 2)] }, { text: "3" }]);
    await readLog(start(backend, { toolChoice: "required" }).run);
    expect(backend.requests.map((request) => request.toolChoice)).toEqual(["required", undefined]);
  });

  it.each([
    ["refusal", "refused"],
    ["content-filter", "content-filtered"],
  ] as const)("a %s is a terminal error with a remedy", async (stopReason, code) => {
    const reply = [messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "I" }], stopReason })];
    const { run } = start(createScriptedBackend([reply]));
    const log = await readLog(run);
    expect(log.at(-2)).toMatchObject({
      type: "error",
      code,
      terminal: true,
      diagnostic: { troubleshooting: expect.any(String) },
    });
  });

  it("an answer cut off by its length limit is not a success", async () => {
    const reply = [
      messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "half" }], stopReason: "max-tokens" }),
    ];
    const { run } = start(createScriptedBackend([reply]));
    await readLog(run);
    expect(await run.result()).toMatchObject({ status: "error", subtype: "error_max_tokens", text: "half" });
  });

  it("a paused turn is continued", async () => {
    const pause = [
      messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "wait " }], stopReason: "pause" }),
    ];
    const { run } = start(createScriptedBackend([pause, { text: "done" }]));
    await readLog(run);
    expect(await run.result()).toMatchObject({ status: "success", text: "done", turns: 2 });
  });

  it("a reply without a message is a cut stream", async () => {
    const { run } = start(createScriptedBackend([[startItem({ backend: "x", mode: "http" })]]), { retry: false });
    await readLog(run);
    expect(await run.result()).toMatchObject({ status: "error", subtype: "stream-cut" });
  });

  it("every reply is priced separately, and the cost is unknown if the cost of any reply is", async () => {
    const backend = createScriptedBackend([{ calls: [call(1, 2)] }, { text: "3" }]);
    const priced: unknown[] = [];
    const known = start(backend, {
      price: async (usage) => {
        priced.push(usage);
        return 0.25;
      },
    });
    await readLog(known.run);
    expect(priced).toEqual([
      { inputTokens: 10, outputTokens: 2 },
      { inputTokens: 10, outputTokens: 2 },
    ]);
    expect(await known.run.result()).toMatchObject({ costUsd: 0.5, usage: { inputTokens: 20, outputTokens: 4 } });
    let asked = 0;
    const halfKnown = start(createScriptedBackend([{ calls: [call(1, 2)] }, { text: "3" }]), {
      price: async () => (asked++ === 0 ? 0.25 : undefined),
    });
    await readLog(halfKnown.run);
    expect(await halfKnown.run.result()).not.toHaveProperty("costUsd");
  });

  it("C4: an unsupported feature of a backend is reported once, before anything else happens", async () => {
    const backend = {
      ...createScriptedBackend([{ calls: [call(1, 2)] }, { text: "3" }]),
      ignores: ["thinkingTokens"] as const,
    };
    const log = await readLog(start(backend, { thinkingTokens: 1000 }).run);
    expect(log.filter((event) => event.type === "warning")).toMatchObject([
      { seq: 1, code: "option-ignored", context: { option: "thinkingTokens", value: 1000 } },
    ]);
  });

  it("the progress of a tool is a notice", async () => {
    const reporting = tool("add", "d", {}, (_, context) => context.progress({ percent: 50 }));
    const log = await readLog(
      start(createScriptedBackend([{ calls: [{ name: "add", input: {} }] }, { text: "ok" }]), { tools: [reporting] })
        .run,
    );
    expect(log.find((event) => event.type === "notice")).toMatchObject({
      kind: "tool-progress",
      data: { name: "add", state: { percent: 50 } },
    });
  });

  it("AT-44 I6: after an abort while a tool runs, the next tool never runs, and every call is answered", async () => {
    const entered = createDeferred<void>();
    let ran = 0;
    const hanging = tool("add", "d", {}, () => {
      ran += 1;
      entered.resolve();
      return new Promise(() => undefined);
    });
    const { run } = start(
      createScriptedBackend([
        {
          calls: [
            { name: "add", input: {} },
            { name: "add", input: {} },
          ],
        },
      ]),
      { tools: [hanging], toolConcurrency: 1 },
    );
    const finished = readLog(run);
    await entered.promise;
    await run.abort();
    const log = await finished;
    expect(ran).toBe(1);
    expect(log.filter((event) => event.type === "tool-result").map((event) => event.skipped)).toEqual([
      "aborted",
      "aborted",
    ]);
    expect((await run.result()).status).toBe("aborted");
  });
});

describe("retries", () => {
  it("R18: before the first token a temporary failure is retried, with a notice, after the time the host asks for", async () => {
    const backend = createScriptedBackend([
      failWith("provider-overloaded", { diagnostic: { retryAfterMs: 7000 } }),
      { text: "fine" },
    ]);
    const { run, clock } = start(backend);
    const finished = readLog(run);
    await clock.advance(6999);
    expect(backend.requests).toHaveLength(1);
    await clock.advance(1);
    const log = await finished;
    expect(log.filter((event) => event.type === "notice")).toMatchObject([
      { kind: "retry", data: { attempt: 2, attempts: 4, delayMs: 7000 } },
    ]);
    expect(log.filter((event) => event.type === "start")).toHaveLength(1);
    expect((await run.result()).text).toBe("fine");
  });

  it("gives up after four attempts, or after 60 s of waiting, whatever the host asks for", async () => {
    const backend = createScriptedBackend([failWith("provider-overloaded")]);
    const { run, clock } = start(backend);
    const finished = readLog(run);
    await clock.advance(60_000);
    await finished;
    expect(backend.requests).toHaveLength(4);
    const greedy = createScriptedBackend([
      failWith("provider-overloaded", { diagnostic: { retryAfterMs: 3_600_000 } }),
    ]);
    await readLog(start(greedy).run);
    expect(greedy.requests).toHaveLength(1);
  });

  it("does not retry a request that is itself invalid", async () => {
    const backend = createScriptedBackend([failWith("provider-invalid-request", { diagnostic: { status: 400 } })]);
    const log = await readLog(start(backend).run);
    expect(backend.requests).toHaveLength(1);
    expect(log.at(-2)).toMatchObject({ code: "provider-invalid-request", terminal: true });
  });

  it("after the first token, retries only if the option is set, and then with a retraction", async () => {
    const broken: Chunk[] = [
      textDelta("m1", 0, "half"),
      errorItem({ code: "stream-cut", message: "cut", terminal: true }),
    ];
    const careful = createScriptedBackend([broken, { text: "whole" }]);
    await readLog(start(careful).run);
    expect(careful.requests).toHaveLength(1);
    const eager = start(createScriptedBackend([broken, { text: "whole" }]), { retry: { afterFirstToken: true } });
    const finished = readLog(eager.run);
    await eager.clock.advance(60_000);
    const log = await finished;
    expect(types(log).filter((type) => type !== "message")).toEqual([
      "start",
      "text-delta",
      "notice",
      "notice",
      "text-delta",
      "result",
      "done",
    ]);
    expect((await eager.run.result()).text).toBe("whole");
  });

  it("an abort during the wait ends the run at once", async () => {
    const backend = createScriptedBackend([failWith("provider-overloaded")]);
    const { run, clock } = start(backend);
    const finished = readLog(run);
    await clock.advance(0);
    await run.abort();
    await finished;
    expect(backend.requests).toHaveLength(1);
    expect(clock.pending()).toBe(0);
  });

  it("a fallback retracts what the first choice had shown before it failed", async () => {
    const broken: Chunk[] = [
      textDelta("m1", 0, "half"),
      errorItem({ code: "stream-cut", message: "cut", terminal: true }),
    ];
    const up = createScriptedBackend([{ text: "whole" }], "up");
    const { run } = start(createScriptedBackend([broken]), { fallback: [up] });
    const log = await readLog(run);
    expect(log.filter((event) => event.type === "notice")).toMatchObject([
      { kind: "retract", data: { messageId: "m1" } },
      { kind: "fallback" },
    ]);
    expect(await run.result()).toMatchObject({ status: "success", text: "whole" });
  });

  it("a fallback answers if the first choice is unavailable", async () => {
    const down = createScriptedBackend([failWith("provider-auth")], "down");
    const up = createScriptedBackend([{ text: "here" }], "up");
    const { run } = start(down, { fallback: [up] });
    const log = await readLog(run);
    expect(log.filter((event) => event.type === "start").map((event) => event.backend)).toEqual(["down", "up"]);
    expect(log.find((event) => event.type === "notice")).toMatchObject({
      kind: "fallback",
      data: { from: "down/script", to: "up/script" },
    });
    expect(await run.result()).toMatchObject({ status: "success", text: "here" });
  });
});

describe("F-B1: a reply with very many calls", () => {
  const COUNT = 1500;
  const calls = Array.from({ length: COUNT }, (_, at) => ({ ...call(at, 1), id: `c${at}` }));

  it("is written and answered in many turns, and only some of its calls listen for an abort at a time", async () => {
    let turns = 0;
    let listening = 0;
    let most = 0;
    const { addEventListener, removeEventListener } = AbortSignal.prototype;
    AbortSignal.prototype.addEventListener = function (...given: Parameters<typeof addEventListener>) {
      most = Math.max(most, (listening += 1));
      addEventListener.apply(this, given);
    };
    AbortSignal.prototype.removeEventListener = function (...given: Parameters<typeof removeEventListener>) {
      listening -= 1;
      removeEventListener.apply(this, given);
    };
    try {
      const nextTurn = async (): Promise<void> => void (turns += 1);
      const { run } = start(createScriptedBackend([{ calls }, { text: "Done." }]), { nextTurn });
      const log = await readLog(run);
      const outputs = log.flatMap((event) => (event.type === "tool-result" ? [event.output] : []));
      expect(outputs).toEqual(calls.map(({ input }) => input.a + 1));
      expect(await run.result()).toMatchObject({ status: "success", text: "Done." });
    } finally {
      Object.assign(AbortSignal.prototype, { addEventListener, removeEventListener });
    }
    // Once in 512 chunks when they are written, once in 64 calls when they run.
    expect(turns).toBeGreaterThanOrEqual(Math.floor(COUNT / 512) + Math.floor(COUNT / 64));
    expect(most).toBeLessThan(1000);
  });
});

describe("silence", () => {
  const hang = (...first: Chunk[]) =>
    async function* (_: unknown, signal: AbortSignal): AsyncGenerator<readonly Chunk[]> {
      if (first.length > 0) yield first;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    };

  it("C5: a silent model causes a notice after a minute and a terminal error after five", async () => {
    const { run, clock } = start(createScriptedBackend([hang(textDelta("m", 0, "a"))]), { retry: false });
    const finished = readLog(run);
    await clock.advance(60_000);
    await clock.advance(239_999);
    expect(run.isComplete()).toBe(false);
    await clock.advance(1);
    const log = await finished;
    expect(log.filter((event) => event.type === "notice")).toMatchObject([{ kind: "stall" }]);
    expect(log.at(-2)).toMatchObject({
      code: "stalled",
      terminal: true,
      message: expect.stringContaining("in the middle"),
    });
  });

  it("silence is not counted while our own tool runs", async () => {
    const gate = createDeferred<void>();
    const slow = tool("add", "d", {}, () => gate.promise, { timeoutMs: 3_600_000 });
    const { run, clock } = start(createScriptedBackend([{ calls: [{ name: "add", input: {} }] }, { text: "ok" }]), {
      tools: [slow],
    });
    const finished = readLog(run);
    await clock.advance(1_000_000);
    gate.resolve();
    await finished;
    expect((await run.result()).status).toBe("success");
  });

  it("silence is not counted while a slow reader holds up the run", async () => {
    const many = Array.from({ length: 5000 }, () => textDelta("m", 0, "x"));
    const text = "x".repeat(5000);
    const backend = createScriptedBackend([
      [...many, messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text }], stopReason: "end-turn" })],
    ]);
    const { run, clock } = start(backend);
    const reader = run[Symbol.asyncIterator]();
    await reader.next();
    await clock.advance(10_000_000);
    for await (const _ of reader);
    expect((await run.result()).status).toBe("success");
  });
});
