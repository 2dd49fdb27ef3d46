import { describe, expect, it } from "vitest";
import type { AgentEvent, Clock, ProcessRequest } from "#domain";
import { createEmulator, type EmulatorScript } from "#emulator";
import { type RunOptions, startRun, systemWorld } from "#runtime";
import { assertRunLog, type SpawnStep } from "#testing";
import { tool } from "#tools";
import { systemClock } from "#transports";
import { describeRealCli, realCliOptions } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { greet, INIT, openScripted, result, says, writes } from "./scripted.ts";

// Budgets mean the same on the real CLI as on a model: an end with a name, and everything produced is kept.

const home = temporaryFolder("limits");

const note = tool("note", "Note something", { text: "string" }, ({ text }) => `noted ${text}`);
const name = "mcp__millrace__note";
const busy: EmulatorScript = {
  rules: [{ match: { tool: name }, reply: { text: "again", toolCalls: [{ name, input: { text: "x" } }] } }],
  otherwise: { text: "something else" },
};

async function play(options: RunOptions, clock: Clock = systemClock) {
  const emulator = createEmulator({ script: busy });
  const { url } = await emulator.listen();
  const env = { PATH: process.env["PATH"], HOME: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-ant-offline" };
  try {
    const run = startRun(
      "claude-code",
      "go",
      { tools: [note], cwd: home, claudeCode: realCliOptions(), ...options },
      { ...systemWorld(), env, clock },
    );
    const log: AgentEvent[] = [];
    for await (const event of run) log.push(event);
    assertRunLog(log);
    await run.closed;
    return await run.result();
  } finally {
    await emulator.close();
  }
}

describeRealCli("the limits of a run on the real Claude Code CLI", () => {
  it("turns", async () => {
    expect(await play({ limits: { turns: 2 } })).toMatchObject({ status: "error", subtype: "error_max_turns" });
  });

  it("tokens", async () => {
    const result = await play({ limits: { tokens: 10 } });
    expect(result).toMatchObject({ status: "error", subtype: "error_max_total_tokens" });
    expect(result.text).toContain("again");
  });

  it("time", async () => {
    // The time is up when the tool has been called, however long the CLI takes to get there.
    const timeoutMs = 3_600_000;
    let passTime = (): void => undefined;
    const clock: Clock = {
      now: () => systemClock.now(),
      after(ms, fire) {
        if (ms !== timeoutMs) return systemClock.after(ms, fire);
        passTime = fire;
        return () => undefined;
      },
    };
    const slow = tool("note", "Note something", { text: "string" }, () => {
      passTime();
      return new Promise(() => undefined);
    });
    const result = await play({ tools: [slow], limits: { timeoutMs } }, clock);
    expect(result).toMatchObject({ status: "error", subtype: "error_timeout" });
    expect(result.toolCalls).toHaveLength(1);
  });
});

describe.each(["plain", "control"] as const)("F-D6: a limit that the CLI reports in %s mode", (mode) => {
  const turns = { is_error: true, subtype: "error_max_turns", errors: ["Reached maximum number of turns (2)"] };
  const money = { is_error: true, subtype: "error_max_budget_usd", errors: ["Reached maximum budget ($0.5)"] };
  it.each([
    [{ maxTurns: 2 }, {}, turns, "The run reached claudeCode.maxTurns (2). Raise it,"],
    [{ maxTurns: 9 }, { turns: 2 }, turns, "The run reached limits.turns (2). Raise it,"],
    [{}, {}, turns, "Reached maximum number of turns (2)"],
    [{}, {}, { ...turns, errors: [] }, "The agent reached a limit of its own (error_max_turns)."],
    [{ maxBudgetUsd: 0.5 }, {}, money, "The run reached claudeCode.maxBudgetUsd ($0.5). Raise it,"],
    [{ maxBudgetUsd: 9 }, { costUsd: 0.5 }, money, "The run reached limits.costUsd ($0.5). Raise it,"],
    [{}, {}, money, "Reached maximum budget ($0.5)"],
    [{}, {}, { is_error: true, subtype: "error_timeout" }, "The agent reached a limit of its own (error_timeout)."],
  ])("with the options %o and the limits %o is named as what was set", async (options, limits, verdict, message) => {
    const begin: readonly SpawnStep[] =
      mode === "plain" ? [{ waitForInput: "end" }] : [greet, { waitForInput: "line" }];
    const frame = { ...result("again", verdict), result: undefined };
    const place = openScripted([...begin, writes(INIT, says("m1", "again"), frame), { exit: 1 }]);
    const run = startRun(place.backend({ mode, ...options }), "go", { limits }, { ...systemWorld(), ...place.world });
    for (let step = 0; !run.isComplete() && step < 500; step += 1) await place.clock.advance(10);
    const { error, subtype } = await run.result();
    expect(subtype).toBe(verdict.subtype);
    expect(error?.message.startsWith(message), error?.message).toBe(true);
  });
});

describe.each(["plain", "control"] as const)(
  "a CLI in %s mode that exits without a verdict when it is interrupted",
  (mode) => {
    it.each([0, 1])("F-C2: at a limit of tokens the run ends with the limit, exit code %i", async (exit) => {
      const message = says("m1", "again");
      const spent = { ...message, message: { ...message.message, usage: { input_tokens: 10, output_tokens: 10 } } };
      const begin: readonly SpawnStep[] =
        mode === "plain" ? [{ waitForInput: "end" }] : [greet, { waitForInput: "line" }];
      const place = openScripted((request: ProcessRequest): readonly SpawnStep[] =>
        request.args.includes("--version")
          ? [{ write: "2.1.197 (Claude Code)\n" }, { exit: 0 }]
          : [...begin, writes(INIT, spent), { exit }],
      );
      const { clock, random, spawn, files, env } = place.world;
      const world = { ...systemWorld(), clock, random, spawn, files, env };
      const log: AgentEvent[] = [];
      const run = startRun(place.backend({ mode, watchdog: false }), "go", { limits: { tokens: 1 } }, world);
      const reading = (async () => {
        for await (const event of run) log.push(event);
      })();
      for (let step = 0; !run.isComplete() && step < 2000; step += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        if (step > 50) await place.clock.advance(100);
      }
      await reading;
      assertRunLog(log);
      const result = await run.result();
      expect(result).toMatchObject({ status: "error", subtype: "error_max_total_tokens", text: "again", warnings: [] });
      expect(result.usage).toMatchObject({ inputTokens: 10, outputTokens: 10 });
    });
  },
);
