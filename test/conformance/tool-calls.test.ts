import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import type { EmulatorScript } from "#emulator";
import { createDeferred } from "#streams";
import { tool } from "#tools";
import { CONTROL_TARGETS, MODEL_TARGETS, openStage, type TestTarget, TOOL_TARGETS } from "./targets.ts";

/** One reply with these calls, then a text. */
function batchOf(
  target: TestTarget,
  calls: readonly { readonly name: string; readonly input: unknown }[],
): EmulatorScript {
  const toolCalls = calls.map(({ name, input }) => ({ name: target.toolName(name), input }));
  return {
    rules: [
      { match: { user: "go", turn: 0 }, reply: { text: "Now.", toolCalls } },
      { match: { user: "go" }, reply: { text: "Done." } },
    ],
    otherwise: { text: "something else" },
  };
}

const ofType = <Type extends AgentEvent["type"]>(log: readonly AgentEvent[], type: Type) =>
  log.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type);

/** A tool whose calls say when they begin, and end when they are let go. */
function gatedTool(name: string, options: { readonly sequential?: boolean } = {}) {
  const gates = new Map<number, ReturnType<typeof createDeferred<void>>>();
  const gate = (n: number) => {
    const known = gates.get(n) ?? createDeferred<void>();
    gates.set(n, known);
    return known;
  };
  const order: string[] = [];
  let waiting: { readonly count: number; readonly resolve: () => void } | undefined;
  const made = tool(
    name,
    "Waits",
    { n: "number" },
    async ({ n }) => {
      order.push(`begin ${n}`);
      if (waiting !== undefined && order.length >= waiting.count) waiting.resolve();
      await gate(n).promise;
      order.push(`end ${n}`);
      return n;
    },
    options,
  );
  const begun = (count: number) =>
    order.length >= count ? Promise.resolve() : new Promise<void>((resolve) => (waiting = { count, resolve }));
  return { made, order, begun, end: (n: number) => gate(n).resolve() };
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ name: "wait", input: { n } }));

describe.each(MODEL_TARGETS)("F-D3: the calls of one reply on $name", (target) => {
  it("run concurrently; a result comes when its call has finished; the transcript has them in call order", async () => {
    const stage = await openStage(batchOf(target, numbers(3)));
    try {
      const { made, begun, end } = gatedTool("wait");
      const run = stage.start(target, "go", { tools: [made] });
      const seen: unknown[] = [];
      run.on("tool-result", ({ output }) => {
        seen.push(output);
        if (output === 2) end(0);
        if (output === 0) end(1);
      });
      await begun(3);
      end(2);
      const { messages, status } = await run.result();
      expect(status).toBe("success");
      expect(seen).toEqual([2, 0, 1]);
      const results = messages.flatMap(({ blocks }) => blocks.filter((block) => block.type === "tool-result"));
      expect(results.map(({ output }) => output)).toEqual([0, 1, 2]);
    } finally {
      await stage.close();
    }
  });

  it("run eight at a time unless toolConcurrency says otherwise", async () => {
    for (const [options, limit] of [
      [{}, 8],
      [{ toolConcurrency: 2 }, 2],
      [{ toolConcurrency: 1 }, 1],
    ] as const) {
      const stage = await openStage(batchOf(target, numbers(10)));
      try {
        let running = 0;
        let most = 0;
        const wait = tool("wait", "Waits", { n: "number" }, async ({ n }) => {
          running += 1;
          most = Math.max(most, running);
          for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
          running -= 1;
          return n;
        });
        const { result } = await stage.play(target, "go", { tools: [wait], ...options });
        expect(result.toolCalls).toHaveLength(10);
        expect(most).toBe(limit);
      } finally {
        await stage.close();
      }
    }
  });

  it("a sequential tool runs alone: after the calls before it, before the calls after it", async () => {
    const calls = ["wait", "wait", "write", "write", "wait"].map((name, n) => ({ name, input: { n } }));
    const stage = await openStage(batchOf(target, calls));
    try {
      const order: string[] = [];
      const make = (name: string, sequential: boolean) =>
        tool(
          name,
          "Works",
          { n: "number" },
          async ({ n }) => {
            order.push(`begin ${n}`);
            await new Promise((resolve) => setImmediate(resolve));
            order.push(`end ${n}`);
            return n;
          },
          { sequential },
        );
      const { result } = await stage.play(target, "go", { tools: [make("wait", false), make("write", true)] });
      expect(result.status).toBe("success");
      expect(order.slice(0, 2)).toEqual(["begin 0", "begin 1"]);
      expect(order.slice(4)).toEqual(["begin 2", "end 2", "begin 3", "end 3", "begin 4", "end 4"]);
    } finally {
      await stage.close();
    }
  });

  it("questions about several calls are open at once; an abort answers all of them", async () => {
    const stage = await openStage(batchOf(target, numbers(3)));
    try {
      const asked: string[] = [];
      const wait = tool("wait", "Waits", { n: "number" }, ({ n }) => n);
      const run = stage.start(target, "go", { tools: [wait], permissions: { ask: ["wait"] } });
      run.on("permission", (event) => {
        if (event.state !== "asked") return;
        asked.push(event.callId);
        if (asked.length === 3) void run.abort();
      });
      const result = await run.result();
      expect(new Set(asked).size).toBe(3);
      expect(result.status).toBe("aborted");
      const log: AgentEvent[] = [];
      for await (const event of run) log.push(event);
      expect(ofType(log, "tool-result").map(({ skipped }) => skipped)).toEqual(["aborted", "aborted", "aborted"]);
    } finally {
      await stage.close();
    }
  });
});

describe.each(CONTROL_TARGETS)("F-D3: the calls that $name makes of our tools", (target) => {
  it("keep the limit and the order of sequential tools, however the CLI makes them", async () => {
    const stage = await openStage(batchOf(target, numbers(4)));
    try {
      let running = 0;
      let most = 0;
      const wait = tool(
        "wait",
        "Waits",
        { n: "number" },
        async ({ n }) => {
          running += 1;
          most = Math.max(most, running);
          await new Promise((resolve) => setImmediate(resolve));
          running -= 1;
          return n;
        },
        // Of other tools the CLI runs one call at a time anyway.
        { sequential: true, readOnly: true },
      );
      const { result } = await stage.play(target, "go", { tools: [wait] });
      expect(result.status).toBe("success");
      expect(result.toolCalls.map(({ output }) => output)).toEqual([0, 1, 2, 3]);
      expect(most).toBe(1);
    } finally {
      await stage.close();
    }
  });

  it.each([
    ["eight at a time", {}, 8],
    ["as many as toolConcurrency says", { toolConcurrency: 3 }, 3],
  ] as const)("F-C2: those of readOnly tools run %s", async (_, options, limit) => {
    const stage = await openStage(batchOf(target, numbers(10)));
    try {
      let running = 0;
      let most = 0;
      const together = createDeferred<void>();
      const read = async ({ n }: { readonly n: number }) => {
        running += 1;
        most = Math.max(most, running);
        // The first calls wait for each other: run one after the other, they would never end.
        if (running === limit) together.resolve();
        await together.promise;
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return n;
      };
      const wait = tool("wait", "Waits", { n: "number" }, read, { readOnly: true });
      const { result } = await stage.play(target, "go", { tools: [wait], ...options, limits: { toolMs: 20_000 } });
      expect(result).toMatchObject({ status: "success", warnings: [] });
      expect(result.toolCalls.map(({ output }) => output)).toEqual([...numbers(10).keys()]);
      expect(most).toBe(limit);
    } finally {
      await stage.close();
    }
  });
});

describe.each(TOOL_TARGETS)("F-D4: a tool call on $name", (target) => {
  it("input is what ran and requestedInput what the model asked for, when somebody changed it", async () => {
    const stage = await openStage(batchOf(target, [...numbers(1), { name: "other", input: { n: 5 } }]));
    try {
      const ran: unknown[] = [];
      const wait = tool("wait", "Waits", { n: "number" }, (input) => ran.push(input) && "ok");
      const other = tool("other", "Waits", { n: "number" }, () => "ok");
      const { result } = await stage.play(target, "go", {
        tools: [wait, other],
        permission: ({ name }) => (name === "wait" ? { allow: true, input: { n: 70 } } : { allow: true }),
      });
      expect(ran).toEqual([{ n: 70 }]);
      const [changed, same] = result.toolCalls;
      expect(changed).toMatchObject({ name: "wait", input: { n: 70 }, requestedInput: { n: 0 } });
      expect(same).toMatchObject({ name: "other", input: { n: 5 } });
      expect(same).not.toHaveProperty("requestedInput");
    } finally {
      await stage.close();
    }
  });

  it("ms is the tool's own time and waitedMs the wait for a person", async () => {
    const stage = await openStage(batchOf(target, numbers(1)));
    try {
      let now = 0;
      const { clock } = stage.world;
      const later = { ...clock, now: () => clock.now() + now };
      const wait = tool("wait", "Waits", { n: "number" }, () => {
        now += 20_000;
        return "ok";
      });
      const options = { tools: [wait], permissions: { ask: ["wait"] } };
      const run = stage.start(target, "go", options, { ...stage.world, clock: later });
      run.on("permission", ({ state, callId }) => {
        if (state !== "asked") return;
        now += 500_000;
        run.answer(callId, { allow: true });
      });
      const { toolCalls } = await run.result();
      expect(Math.floor((toolCalls[0]?.ms ?? 0) / 10_000)).toBe(2);
      expect(Math.floor((toolCalls[0]?.waitedMs ?? 0) / 100_000)).toBe(5);
    } finally {
      await stage.close();
    }
  });

  it("a tool that returns an error has failed; a Map is shown with what it holds", async () => {
    const stage = await openStage(batchOf(target, [...numbers(1), { name: "list", input: {} }]));
    try {
      const wait = tool("wait", "Waits", { n: "number" }, () => new Error("no such thing"));
      const list = tool("list", "Lists", {}, () => new Map([["a", Number.NaN]]));
      const { result } = await stage.play(target, "go", { tools: [wait, list] });
      expect(result.toolCalls).toMatchObject([
        { isError: true, output: expect.stringContaining("no such thing") },
        { isError: false, output: { a: "NaN" } },
      ]);
    } finally {
      await stage.close();
    }
  });
});
