import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import type { EmulatorScript } from "#emulator";
import type { RunOptions } from "#runtime";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import { startSession } from "../../src/runtime/open-session.ts";
import { locateRealCli } from "../real-cli.ts";
import { outline } from "./model-backends.ts";
import { ALL_TARGETS, CONTROL_TARGETS, openStage, type Stage, type TestTarget, TOOL_TARGETS } from "./targets.ts";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

/** One reply with these calls, then a text. */
function batchOf(calls: readonly { readonly name: string; readonly input: unknown }[]): EmulatorScript {
  return {
    rules: [
      { match: { user: "go", turn: 0 }, reply: { text: "Now.", toolCalls: calls } },
      { match: { user: "go" }, reply: { text: "Done." } },
    ],
    otherwise: { text: "something else" },
  };
}

/** Where a call stands: its message, the `tool-call`, everything else about it, in the order of the log. */
function storyOf(log: readonly AgentEvent[], callId: string): string[] {
  const told = log.flatMap((event): string[] => {
    switch (event.type) {
      case "message":
        return event.role === "assistant" &&
          event.blocks.some((one) => one.type === "tool-call" && one.callId === callId)
          ? ["message"]
          : [];
      case "tool-call":
      case "tool-result":
        return event.callId === callId ? [event.type] : [];
      case "permission":
        return event.callId === callId ? [`permission ${event.state}`] : [];
      default:
        return event.parent === callId ? ["inside"] : [];
    }
  });
  return told.filter((line, at) => line !== told[at - 1]);
}

function storiesOf(log: readonly AgentEvent[]): string[][] {
  return log.flatMap((event) => (event.type === "tool-call" ? [storyOf(log, event.callId)] : []));
}

const POLICIES: readonly [string, RunOptions, readonly string[]][] = [
  ["no policy", {}, []],
  [
    "a hook that watches",
    { hooks: { "before-tool": [() => undefined], "after-tool": [() => undefined] } },
    ["permission allowed"],
  ],
  ["a permission callback", { permission: () => ({ allow: true }) }, ["permission allowed"]],
  ["a rule", { permissions: { allow: ["add", "Bash"] } }, ["permission allowed"]],
];

async function withStage(script: EmulatorScript | undefined, use: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = await openStage(script);
  try {
    await use(stage);
  } finally {
    await stage.close();
  }
}

describe.each(TOOL_TARGETS)("F-C4: calls of our tools on $name", (target) => {
  it("C17 AT-53 S2-16: the same program gives the same outline, and usage; the calls are run by us", async () => {
    await withStage(batchOf([{ name: target.toolName("add"), input: { a: 25, b: 17 } }]), async (stage) => {
      const { log, result } = await stage.play(target, "go", { tools: [add] });
      expect(outline(log.filter((event) => event.type !== "notice"))).toEqual([
        "start",
        "message user",
        "text-delta",
        "tool-input-delta",
        "message assistant tool-use",
        'tool-call add {"a":25,"b":17}',
        "tool-result add 42",
        "text-delta",
        "message assistant end-turn",
        "result success",
        "done success",
      ]);
      expect(log.filter((event) => event.type === "tool-call")).toMatchObject([{ executedBy: "millrace" }]);
      expect(result.usage.inputTokens).toBeGreaterThan(0);
      expect(result.usage.outputTokens).toBeGreaterThan(0);
    });
  });

  describe.each(POLICIES)("with %s", (_, options, decisions) => {
    it.each([1, 3])(
      "%i calls in one reply come after their message, and everything about them after them",
      async (count) => {
        const calls = Array.from({ length: count }, (_, n) => ({
          name: target.toolName("add"),
          input: { a: n, b: n },
        }));
        await withStage(batchOf(calls), async (stage) => {
          const { log, result } = await stage.play(target, "go", { tools: [add], ...options });
          expect(result).toMatchObject({ status: "success", text: "Done." });
          const story = ["message", "tool-call", ...decisions, "tool-result"];
          expect(storiesOf(log)).toEqual(calls.map(() => story));
        });
      },
    );
  });

  it("in every run of a session", async () => {
    const script = batchOf([{ name: target.toolName("add"), input: { a: 1, b: 2 } }]);
    await withStage(script, async (stage) => {
      const place = target.isCli ? { cwd: stage.home, ...target.options } : {};
      const session = startSession(target.backend, { tools: [add], ...place }, stage.world);
      try {
        for (const story of [["message", "tool-call", "tool-result"], undefined]) {
          const log: AgentEvent[] = [];
          for await (const event of session.send("go")) log.push(event);
          assertRunLog(log);
          expect(storiesOf(log)).toEqual(story === undefined ? [] : [story]);
        }
      } finally {
        await session.close();
      }
    });
  });
});

const shell = (command: string) => ({ name: "Bash", input: { command, description: "a command" } });
const allowed = { claudeCode: { allowedTools: ["Bash", "Read"] } };

describe.each(ALL_TARGETS.filter(({ isCli }) => isCli))("F-C4: calls of Claude Code's own tools on $name", (target) => {
  it.each([true, false])(
    "C17: come after their message, and are run by the CLI; partial messages: %s",
    async (includePartialMessages) => {
      await withStage(batchOf([shell("echo one"), shell("echo two")]), async (stage) => {
        writeFileSync(join(stage.home, "a.txt"), "a");
        const claudeCode = { ...allowed.claudeCode, includePartialMessages };
        const { log, result } = await stage.play(target, "go", { claudeCode });
        expect(result).toMatchObject({ status: "success", text: "Done." });
        const run = log.flatMap((event) => (event.type === "tool-call" ? [event.executedBy] : []));
        expect(run).toEqual(["backend", "backend"]);
        const stories = storiesOf(log);
        expect(stories).toHaveLength(2);
        // Nothing says where a message ends that is not streamed: it is told again with its second call.
        const again = includePartialMessages ? [] : ["message"];
        expect(stories).toEqual([
          ["message", "tool-call", ...again, "tool-result"],
          ["message", "tool-call", "tool-result"],
        ]);
        expect(result.messages.filter(({ role }) => role === "assistant")).toHaveLength(2);
      });
    },
  );

  it("a sub-agent's events come after the call that started it, and its own calls after their messages", async () => {
    const agentCall = {
      name: "Agent",
      input: { description: "Sub task", prompt: "deep please", subagent_type: "general-purpose" },
    };
    const script: EmulatorScript = {
      rules: [
        { match: { user: { contains: "deep" }, turn: 0 }, reply: { text: "Under.", toolCalls: [shell("echo deep")] } },
        { match: { user: { contains: "deep" } }, reply: { text: "Surfaced." } },
        { match: { user: "go", turn: 0 }, reply: { text: "Now.", toolCalls: [agentCall] } },
        { match: { user: "go" }, reply: { text: "Done." } },
      ],
      otherwise: { text: "something else" },
    };
    await withStage(script, async (stage) => {
      const { log } = await stage.play(target, "go", allowed);
      const calls = log.filter((event) => event.type === "tool-call");
      expect(calls.length).toBeGreaterThan(1);
      for (const { callId } of calls) expect(storyOf(log, callId).slice(0, 2)).toEqual(["message", "tool-call"]);
    });
  });
});

const DECISIONS: [string, RunOptions, string[]][] = [
  ["a hook that denies", { hooks: { "before-tool": [() => ({ block: "no" })] } }, ["permission denied"]],
  ["a permission callback", { permission: () => ({ allow: true }) }, ["permission allowed"]],
  ["a rule that denies", { permissions: { deny: ["Bash"] } }, ["permission denied"]],
];

describe.each(CONTROL_TARGETS)("F-C4: decisions about Claude Code's own tools", (target: TestTarget) => {
  it.each(DECISIONS)("%s", async (_, options, decisions) => {
    await withStage(batchOf([shell("touch one"), shell("touch two")]), async (stage) => {
      const { log } = await stage.play(target, "go", options);
      const story = ["message", "tool-call", ...decisions, "tool-result"];
      expect(storiesOf(log)).toEqual([story, story]);
    });
  });

  it("the CLI continues with a message while a question about one of its calls is open", async () => {
    // What the wait for the end of a message rests on: slow text behind nothing, so the hook comes long before the end.
    const reply = { text: "Now.", toolCalls: [shell("touch one"), shell("touch two")], betweenMs: 40 };
    const script: EmulatorScript = {
      rules: [
        { match: { user: "go", turn: 0 }, reply },
        { match: { user: "go" }, reply: { text: "Done." } },
      ],
      otherwise: { text: "something else" },
    };
    await withStage(script, async (stage) => {
      const { log, result } = await stage.play(target, "go", { permission: () => ({ allow: true }) });
      expect(result).toMatchObject({ status: "success" });
      const assistant = log.filter((event) => event.type === "message" && event.role === "assistant");
      expect(assistant.map((event) => (event.type === "message" ? event.stopReason : ""))).toEqual([
        "tool-use",
        "end-turn",
      ]);
    });
  });
});

it("the real CLI is installed where required", () => {
  if (process.env["CI"] === "true") expect(locateRealCli()).toBeDefined();
});
