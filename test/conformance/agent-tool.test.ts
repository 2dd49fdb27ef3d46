import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import type { EmulatorScript } from "#emulator";
import { agent, agentTool } from "#runtime";
import { tool } from "#tools";
import { MODEL_TARGETS, openStage, type Stage, type TestTarget, TOOL_TARGETS } from "./targets.ts";

const look = tool("look", "Look something up", {}, () => "found it");

type Rule = EmulatorScript["rules"][number];

/** The outer agent calls the inner one, which calls a tool, and both answer. */
function script(target: TestTarget): EmulatorScript {
  const call = (name: string, input: unknown) => ({ toolCalls: [{ name: target.toolName(name), input }] });
  return {
    rules: [
      { match: { user: "go", turn: 0 }, reply: { text: "I ask.", ...call("helper", { prompt: "find" }) } },
      { match: { user: "go" }, reply: { text: "It says so." } },
      { match: { user: "find", turn: 0 }, reply: { text: "I look.", ...call("look", {}) } },
      { match: { user: "find" }, reply: { text: "Found." } },
    ],
    otherwise: { text: "something else" },
  };
}

const helperOn = (target: TestTarget, more: Partial<Parameters<typeof agent>[0]> = {}) =>
  agent({ name: "helper", backend: target.backend, instructions: "Help.", tools: [look], ...more });

const withParent = (log: readonly AgentEvent[]) => log.filter((event) => event.parent !== undefined);

async function onStage<Value>(target: TestTarget, act: (stage: Stage) => Promise<Value>): Promise<Value> {
  const stage = await openStage(script(target));
  try {
    return await act(stage);
  } finally {
    await stage.close();
  }
}

describe.each(TOOL_TARGETS)("F-D12: an agent as a tool on $name", (target) => {
  it("its answer is the result of the call, its events have the call as their parent, and the run ends once", () =>
    onStage(target, async (stage) => {
      const { log, result } = await stage.play(target, "go", { tools: [agentTool(helperOn(target))] });
      expect(result).toMatchObject({ status: "success", text: "It says so." });
      const [call] = result.toolCalls;
      expect(call).toMatchObject({ name: "helper", input: { prompt: "find" }, output: "Found.", isError: false });
      const inner = withParent(log);
      expect(new Set(inner.map(({ parent }) => parent))).toEqual(new Set([call?.callId]));
      const types = new Set(inner.map(({ type }) => type));
      for (const type of ["text-delta", "message", "tool-call", "tool-result", "notice"] as const) {
        expect(types).toContain(type);
      }
      expect(inner.find((event) => event.type === "tool-result")).toMatchObject({ name: "look", output: "found it" });
      expect(log.filter((event) => event.type === "done")).toHaveLength(1);
      expect(log.filter((event) => event.type === "result")).toHaveLength(1);
      expect(result.messages.some(({ id }) => inner.some((event) => event.type === "message" && event.id === id))).toBe(
        false,
      );
    }));

  it("a deny rule of the run applies to its tools, and a question about them goes to the run", () =>
    onStage(target, async (stage) => {
      const tools = [agentTool(helperOn(target))];
      const denied = await stage.play(target, "go", { tools, permissions: { deny: ["look"] } });
      expect(denied.log.find((event) => event.type === "tool-result" && event.name === "look")).toMatchObject({
        skipped: "denied",
      });
      const run = stage.start(target, "go", { tools, permissions: { ask: ["look"] } });
      const asked: string[] = [];
      run.on("permission", ({ state, callId, name, parent }) => {
        if (state !== "asked") return;
        asked.push(`${name} ${parent === undefined ? "outside" : "inside"}`);
        run.answer(callId, { allow: true });
      });
      expect((await run.result()).status).toBe("success");
      expect(asked).toEqual(["look inside"]);
    }));

  it("what it uses counts for the run: in the result, and against its limits", () =>
    onStage(target, async (stage) => {
      const alone = await stage.play(target, "something", {});
      const { result } = await stage.play(target, "go", { tools: [agentTool(helperOn(target))] });
      expect(result.usage.outputTokens ?? 0).toBeGreaterThan(alone.result.usage.outputTokens ?? 0);
      const spends = agentTool(helperOn(target, { limits: { tokens: 1 } }));
      const limited = await stage.play(target, "go", { tools: [spends] });
      expect(limited.result.toolCalls[0]).toMatchObject({
        isError: true,
        output: expect.stringContaining("limits.tokens (1)"),
      });
    }));
});

describe.each(MODEL_TARGETS)("F-D12: an agent as a tool on $name", (target) => {
  it("what it has used counts for the run when it fails without a verdict", async () => {
    const { rules } = script(target);
    const [asks, says, looks] = rules as readonly [Rule, Rule, Rule];
    const use = async (found: Rule) => {
      const stage = await openStage({ rules: [asks, says, looks, found] });
      try {
        const tools = [agentTool(helperOn(target))];
        return await stage.play(target, "go", { tools, retry: false });
      } finally {
        await stage.close();
      }
    };
    const { log, result } = await use({ match: { user: "find" }, fault: { status: 400 } });
    const replies = log.filter((event) => event.type === "message" && event.role === "assistant");
    expect(replies.map(({ parent }) => parent !== undefined)).toEqual([false, true, false]);
    const used = replies.map((event) => (event.type === "message" ? (event.usage?.outputTokens ?? 0) : 0));
    expect(used[1]).toBeGreaterThan(0);
    expect(result.toolCalls[0]).toMatchObject({ isError: true });
    expect(result.usage.outputTokens).toBe(used.reduce((sum, tokens) => sum + tokens, 0));
    expect(log.filter((event) => event.type === "notice" && event.kind === "agent-result")).toMatchObject([
      { data: { isError: true, usage: { outputTokens: used[1] } } },
    ]);
  });

  it("F-D6: a limit of the run that it reaches is named with its value", () =>
    onStage(target, async (stage) => {
      const tools = [agentTool(helperOn(target))];
      const { log } = await stage.play(target, "go", { tools });
      const first = log.find((event) => event.type === "message" && event.role === "assistant");
      const { inputTokens = 0, outputTokens = 0 } = (first?.type === "message" && first.usage) || {};
      const tokens = inputTokens + outputTokens + 1;
      const { result } = await stage.play(target, "go", { tools, limits: { tokens } });
      expect(result).toMatchObject({ status: "error", subtype: "error_max_total_tokens" });
      const sentence = `The run reached limits.tokens (${tokens}). Raise it`;
      expect(result.error?.message).toContain(sentence);
      expect(result.toolCalls.find(({ name }) => name === "helper")?.output).toContain(sentence);
    }));

  it("an abort reaches it", () =>
    onStage(target, async (stage) => {
      const stop = new AbortController();
      let fired = false;
      const waits = tool("look", "Waits", {}, (_, { signal }) => {
        signal.addEventListener("abort", () => (fired = true));
        stop.abort();
        return new Promise(() => undefined);
      });
      const helper = helperOn(target, { tools: [waits] });
      const { log, result } = await stage.play(target, "go", { tools: [agentTool(helper)], signal: stop.signal });
      expect(result.status).toBe("aborted");
      expect(fired).toBe(true);
      expect(log.filter((event) => event.type === "tool-result").map(({ skipped }) => skipped)).toEqual([
        "aborted",
        "aborted",
      ]);
    }));

  it("a limit of the run that it reaches ends the run; its failure is an error of the call, not of the run", () =>
    onStage(target, async (stage) => {
      const { result } = await stage.play(target, "go", {
        tools: [agentTool(helperOn(target))],
        limits: { tokens: 60 },
      });
      expect(result.subtype).toBe("error_max_total_tokens");
      const failing = helperOn(target, { limits: { turns: 1 } });
      const gone = await stage.play(target, "go", { tools: [agentTool(failing, { name: "helper" })] });
      expect(gone.result).toMatchObject({ status: "success", text: "It says so." });
      expect(gone.result.toolCalls[0]).toMatchObject({
        isError: true,
        output: expect.stringContaining("limits.turns (1)"),
      });
    }));

  it("a limit of the run ends it in the middle, not only after it has ended", async () => {
    const again = { match: { user: "find" }, reply: { toolCalls: [{ name: target.toolName("look"), input: {} }] } };
    const stage = await openStage({ rules: [script(target).rules[0] as typeof again, again] });
    const tools = [agentTool(helperOn(target))];
    const { log, result } = await stage.play(target, "go", { tools, limits: { tokens: 400 } });
    await stage.close();
    expect(result.subtype).toBe("error_max_total_tokens");
    expect(log.filter((event) => event.type === "tool-call" && event.name === "look").length).toBeLessThan(20);
  });

  it("R11: the partial text of a failed attempt is retracted, and the run continues", async () => {
    const { rules, ...rest } = script(target);
    const cut = {
      match: { user: "find", turn: 0 },
      reply: { text: "I begin to say a thing." },
      fault: { cutAfterEvents: 5 },
    };
    const stage = await openStage({ rules: [cut, ...rules], ...rest });
    try {
      const { log, result } = await stage.play(target, "go", { tools: [agentTool(helperOn(target))] });
      expect(result).toMatchObject({ status: "success", text: "It says so." });
      const shown = withParent(log).find((event) => event.type === "text-delta");
      const taken = withParent(log).find((event) => event.type === "notice" && event.kind === "retract");
      expect(taken).toMatchObject({ data: { messageId: shown?.messageId } });
    } finally {
      await stage.close();
    }
  });

  it("F-B13: a question of its tools without a reader is denied at once", () =>
    onStage(target, async (stage) => {
      const helper = helperOn(target, { permissions: { ask: ["look"] } });
      const run = stage.start(target, "go", { tools: [agentTool(helper)] });
      const result = await run.result();
      expect(result.status).toBe("success");
      expect(result.warnings).toContainEqual(expect.objectContaining({ code: "nobody-can-answer" }));
    }));

  it("the nesting of agents is bounded", async () => {
    const stage = await openStage({
      rules: [{ match: { tool: "self" }, reply: { toolCalls: [{ name: "self", input: { prompt: "deeper" } }] } }],
      otherwise: { text: "bottom" },
    });
    try {
      const tools: ReturnType<typeof agentTool>[] = [];
      const self = agent({
        name: "self",
        backend: target.backend,
        instructions: "Go on.",
        tools,
        limits: { turns: 2 },
      });
      tools.push(agentTool(self));
      const { log } = await stage.play(target, "go", { tools, limits: { turns: 1 } });
      const outputs = log.flatMap((event) => (event.type === "tool-result" ? [String(event.output)] : []));
      expect(outputs.some((output) => output.includes("5 levels deep"))).toBe(true);
    } finally {
      await stage.close();
    }
  });
});
