import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import type { EmulatorScript } from "#emulator";
import { agent, startRun, startSession, swarm } from "#runtime";
import { tool } from "#tools";
import { ALL_TARGETS, MODEL_TARGETS, openStage, type TestTarget, TOOL_TARGETS } from "./targets.ts";

const look = tool("look", "Look something up", { key: "string" }, ({ key }) => `value of ${key}`);

const results = (log: readonly AgentEvent[]) => log.filter((event) => event.type === "result");

/** Two turns with text in each: before a tool call, and after it. The tool is the target's own in plain mode. */
function twoTurns(target: TestTarget): EmulatorScript {
  const call =
    target.name === "claude-code, plain mode"
      ? { name: "TodoWrite", input: { todos: [] } }
      : { name: target.toolName("look"), input: { key: "k" } };
  return {
    rules: [
      { match: { user: "go", turn: 0 }, reply: { text: "I will look.", toolCalls: [call] } },
      { match: { user: "go" }, reply: { text: "It is 42." } },
    ],
    otherwise: { text: "something else" },
  };
}

describe.each(ALL_TARGETS)("F-D1: the text of a run on $name", (target) => {
  const tools = target.name === "claude-code, plain mode" ? {} : { tools: [look] };

  it("is the text of the final message in result(), output() and the result event; messages have the rest", async () => {
    const stage = await openStage(twoTurns(target));
    try {
      const run = stage.start(target, "go", tools);
      const result = await run.result();
      expect(result).toMatchObject({ status: "success", text: "It is 42." });
      expect(await run.output()).toBe("It is 42.");
      const log: AgentEvent[] = [];
      for await (const event of run) log.push(event);
      expect(results(log).at(-1)).toMatchObject({ subtype: "success", text: "It is 42." });
      expect(JSON.stringify(result.messages)).toContain("I will look.");
    } finally {
      await stage.close();
    }
  });

  it("text() streams every message with a blank line between them", async () => {
    const stage = await openStage(twoTurns(target));
    try {
      let text = "";
      for await (const piece of stage.start(target, "go", tools).text()) text += piece;
      expect(text).toBe("I will look.\n\nIt is 42.");
    } finally {
      await stage.close();
    }
  });
});

describe.each(TOOL_TARGETS)("F-D1: the text of a run that ends early on $name", (target) => {
  it("is the text of the last message before the abort", async () => {
    const stage = await openStage(twoTurns(target));
    try {
      const stop = new AbortController();
      const waits = tool("look", "Look something up", { key: "string" }, () => stop.abort());
      const { result } = await stage.play(target, "go", { tools: [waits], signal: stop.signal });
      expect(result).toMatchObject({ status: "aborted", text: "I will look." });
    } finally {
      await stage.close();
    }
  });

  it("contains nothing of earlier runs in a session", async () => {
    const stage = await openStage({
      rules: [
        { match: { user: "first" }, reply: { text: "one" } },
        { match: { user: "second" }, reply: { text: "two" } },
      ],
      otherwise: { text: "something else" },
    });
    const place = target.isCli ? { ...target.options, cwd: stage.home } : {};
    const session = startSession(target.backend, place, stage.world);
    try {
      expect(await session.send("first").output()).toBe("one");
      const second = session.send("second");
      let text = "";
      for await (const piece of second.text()) text += piece;
      expect(text).toBe("two");
      expect(await second.output()).toBe("two");
    } finally {
      await session.close();
      await stage.close();
    }
  });
});

describe.each(MODEL_TARGETS)("F-D1: the text of a run on $name", (target) => {
  it("excludes the text of an attempt that broke off, and text() has it once", async () => {
    const stage = await openStage({
      rules: [
        { match: { times: 1 }, reply: { text: "One two three four." }, fault: { cutAfterEvents: 5 } },
        { reply: { text: "One two three four." } },
      ],
    });
    try {
      const run = stage.start(target, "go", { retry: { attempts: 2, afterFirstToken: true } });
      let text = "";
      for await (const piece of run.text()) text += piece;
      expect(text).toBe("One two three four.");
      expect(await run.result()).toMatchObject({ status: "success", text: "One two three four." });
    } finally {
      await stage.close();
    }
  });

  it("is the last agent's after a handoff, and text() has both with a blank line between", async () => {
    const stage = await openStage({
      rules: [
        {
          match: { tool: "handoff" },
          reply: { text: "Over to b.", toolCalls: [{ name: "handoff", input: { to: "b", message: "go on" } }] },
        },
        { reply: { text: "I am b." } },
      ],
    });
    try {
      const pair = swarm([
        agent({ name: "a", backend: target.backend, instructions: "Begin.", handoffs: ["b"] }),
        agent({ name: "b", backend: target.backend, instructions: "End." }),
      ]);
      const run = startRun(pair, "go", {}, stage.world);
      let text = "";
      for await (const piece of run.text()) text += piece;
      expect(text).toBe("Over to b.\n\nI am b.");
      expect(await run.output()).toBe("I am b.");
      const log: AgentEvent[] = [];
      for await (const event of run) log.push(event);
      expect(results(log)).toMatchObject([{ text: "Over to b." }, { text: "I am b." }]);
    } finally {
      await stage.close();
    }
  });
});
