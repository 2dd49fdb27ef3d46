import { describe, expect, it } from "vitest";
import type { AgentEvent, RunResult } from "#domain";
import type { EmulatorScript } from "#emulator";
import type { RunOptions } from "#runtime";
import { agent, startRun, swarm } from "#runtime";
import { tool } from "#tools";
import { ALL_TARGETS, MODEL_TARGETS, openStage, type TestTarget, TOOL_TARGETS } from "./targets.ts";

const again = tool("again", "Asks for more", {}, () => "more");

/** A model that never comes to an end. */
const endless = (target: TestTarget): EmulatorScript => ({
  rules: [
    { match: { user: "go" }, reply: { text: "once more", toolCalls: [{ name: target.toolName("again"), input: {} }] } },
  ],
  otherwise: { text: "something else" },
});

const verdictOf = (log: readonly AgentEvent[]) => log.findLast((event) => event.type === "result");

/** The sentence is in the result, in the event, and is not what the model said last. */
function expectSentence(result: RunResult, log: readonly AgentEvent[], sentence: RegExp): void {
  expect(result.status).toBe("error");
  expect(result.error?.message).toMatch(sentence);
  expect(result.error?.message).not.toContain("once more");
  const verdict = verdictOf(log);
  expect(verdict).toMatchObject({ isError: true, message: result.error?.message });
  expect(verdict?.text).toBe(result.text);
}

describe.each(TOOL_TARGETS)("F-D6: a run that reached a limit on $name", (target) => {
  it.each<[string, RunOptions["limits"], string, RegExp]>([
    ["turns", { turns: 2 }, "error_max_turns", /^The run reached limits\.turns \(2\)\. Raise it, or/],
    ["tokens", { tokens: 1 }, "error_max_total_tokens", /^The run reached limits\.tokens \(1\)\. Raise it, or/],
  ])("names it: %s", async (_, limits = {}, subtype, sentence) => {
    const stage = await openStage(endless(target));
    try {
      const { result, log } = await stage.play(target, "go", { tools: [again], limits });
      expect(result.subtype).toBe(subtype);
      expectSentence(result, log, sentence);
      const failing = stage.start(target, "go", { tools: [again], limits });
      await expect(failing.output()).rejects.toThrow(sentence);
    } finally {
      await stage.close();
    }
  });

  it("names it: time", async () => {
    const stage = await openStage(endless(target));
    try {
      const waits = tool(
        "again",
        "Asks for more",
        {},
        (_, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", resolve, { once: true });
          }),
      );
      const { result, log } = await stage.play(target, "go", { tools: [waits], limits: { timeoutMs: 2500 } });
      expect(result).toMatchObject({ subtype: "error_timeout" });
      expectSentence(result, log, /^The run reached limits\.timeoutMs \(2500 ms\)\. Raise it, or/);
    } finally {
      await stage.close();
    }
  });

  it("a hook that ends the run is named as such, with its reason", async () => {
    const stage = await openStage(endless(target));
    try {
      const { result, log } = await stage.play(target, "go", {
        tools: [again],
        hooks: { "after-tool": [() => ({ stop: "Enough." })] },
      });
      expect(result.subtype).toBe("hook_stopped");
      expectSentence(result, log, /^A hook ended the run: Enough\.$/);
    } finally {
      await stage.close();
    }
  });

  it("an answer that never matches its schema reports what did not match", async () => {
    const wrong = JSON.stringify({ degrees: "warm" });
    const stage = await openStage({
      rules: [
        {
          match: { tool: "StructuredOutput" },
          reply: { toolCalls: [{ name: "StructuredOutput", input: { degrees: -5 } }] },
        },
        { reply: { text: wrong } },
      ],
    });
    try {
      const schema = {
        type: "object",
        properties: { degrees: { type: "number", minimum: 0 } },
        required: ["degrees"],
      } as const;
      const { result } = await stage.play(target, "go", { output: schema, limits: { turns: 8 } });
      expect(result.status).toBe("error");
      expect(result.error?.message).not.toContain("The run ended with");
      if (result.subtype === "error_max_structured_output_retries") {
        // The CLI repairs by itself, and says only that it did so in vain.
        expect(result.error?.message).toMatch(
          /^The answer does not fit the output schema: (?!.*\.\.).*(degrees|valid structured output)/,
        );
      } else expect(result.error?.message).toMatch(/limits\.turns \(8\)/);
    } finally {
      await stage.close();
    }
  });
});

describe.each(MODEL_TARGETS)("F-D6: a run that reached a limit on $name", (target) => {
  it("names it: handoffs", async () => {
    const stage = await openStage({
      rules: [
        { match: { user: "to b" }, reply: { toolCalls: [{ name: "handoff", input: { to: "a", message: "to a" } }] } },
        { reply: { toolCalls: [{ name: "handoff", input: { to: "b", message: "to b" } }] } },
      ],
    });
    try {
      const pair = swarm([
        agent({ name: "a", backend: target.backend, instructions: "A.", handoffs: ["b"] }),
        agent({ name: "b", backend: target.backend, instructions: "B.", handoffs: ["a"] }),
      ]);
      const result = await startRun(pair, "go", { limits: { handoffs: 3 } }, stage.world).result();
      expect(result).toMatchObject({ subtype: "error_max_handoffs" });
      expect(result.error?.message).toMatch(/^The run reached limits\.handoffs \(3\)\. Raise it, or/);
    } finally {
      await stage.close();
    }
  });
});

describe.each(ALL_TARGETS)("F-D6: a run that reached a limit of its answer on $name", (target) => {
  it.each<[string, EmulatorScript, RunOptions, string, RegExp]>([
    [
      "its length in tokens",
      { rules: [{ reply: { text: "half of", stopReason: "max-tokens" } }] },
      { maxTokens: 5 },
      "error_max_tokens",
      /^The answer was cut: the model reached maxTokens \(5\)\. Raise it, or ask for a shorter answer\.$/,
    ],
    [
      "its length in bytes",
      { rules: [{ reply: { text: "x".repeat(200) } }] },
      { limits: { replyBytes: 100 } },
      "reply-too-large",
      /^The run reached limits\.replyBytes: one reply has more than 100 bytes\. .*Raise it, or ask for a shorter answer\.$/,
    ],
    [
      "its silence",
      { rules: [{ fault: { stallAfterEvents: 1 } }] },
      { limits: { idleMs: 1499 } },
      "stalled",
      /reached limits\.idleMs: it .* 1499 ms.* Try again, or raise it if answers may take this long\.$/,
    ],
  ])("names it: %s", async (_, script, options, subtype, sentence) => {
    const stage = await openStage(script);
    try {
      const { result } = await stage.play(target, "go", { ...options, retry: false });
      expect(result).toMatchObject({ status: "error", subtype });
      expect(result.error?.message).toMatch(sentence);
    } finally {
      await stage.close();
    }
  });
});

describe.each(ALL_TARGETS)("F-D7: messages with content on $name", (target) => {
  it("are accepted as text and as blocks, and a system message is rejected with the remedy", async () => {
    const stage = await openStage({ rules: [{ match: { user: "second" }, reply: { text: "Right." } }] });
    try {
      const { result } = await stage.play(target, [
        { role: "user", content: "first" },
        { role: "assistant", content: [{ type: "text", text: "Yes?" }] },
        { role: "user", content: [{ type: "text", text: "second" }] },
      ]);
      expect(result).toMatchObject({ status: "success", text: "Right." });
      const system = { role: "system", content: "Be brief." } as never;
      expect(() => stage.start(target, [system, { role: "user", content: "hi" }])).toThrow(
        /instructions are an option of the run/,
      );
      const odd = [{ role: "user", content: [{ type: "input_text", text: "x" }] }] as never;
      expect(() => stage.start(target, odd)).toThrow(/input\[0\]\.content\[0\]\.type is "input_text"/);
      expect(() => stage.start(target, [{ role: "user", content: 5 }] as never)).toThrow(
        /input\[0\]\.content is a number/,
      );
    } finally {
      await stage.close();
    }
  });
});
