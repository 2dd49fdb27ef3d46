import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { createEmulator, type EmulatorScript } from "#emulator";
import { type RunOptions, startRun, systemWorld } from "#runtime";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import { locateRealCli, realCliOptions } from "../real-cli.ts";

// Budgets mean the same on the real CLI as on a model: an end with a name, and everything produced is kept.

const executable = locateRealCli();
let home = "";

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "millrace-limits-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const note = tool("note", "Note something", { text: "string" }, ({ text }) => `noted ${text}`);
const name = "mcp__millrace__note";
const busy: EmulatorScript = {
  rules: [{ match: { tool: name }, reply: { text: "again", toolCalls: [{ name, input: { text: "x" } }] } }],
  otherwise: { text: "something else" },
};

async function play(options: RunOptions) {
  const emulator = createEmulator({ script: busy });
  const { url } = await emulator.listen();
  const env = { PATH: process.env["PATH"], HOME: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-ant-offline" };
  try {
    const run = startRun(
      "claude-code",
      "go",
      { tools: [note], cwd: home, claudeCode: realCliOptions(), ...options },
      { ...systemWorld(), env },
    );
    const log: AgentEvent[] = [];
    for await (const event of run) log.push(event);
    assertRunLog(log);
    return run.result();
  } finally {
    await emulator.close();
  }
}

describe.runIf(executable !== undefined)("the limits of a run on the real Claude Code CLI", () => {
  it("turns", async () => {
    expect(await play({ limits: { turns: 2 } })).toMatchObject({ status: "error", subtype: "error_max_turns" });
  });

  it("tokens", async () => {
    const result = await play({ limits: { tokens: 10 } });
    expect(result).toMatchObject({ status: "error", subtype: "error_max_total_tokens" });
    expect(result.text).toContain("again");
  });

  it("time", async () => {
    const slow = tool("note", "Note something", { text: "string" }, () => new Promise(() => undefined));
    const result = await play({ tools: [slow], limits: { timeoutMs: 4000 } });
    expect(result).toMatchObject({ status: "error", subtype: "error_timeout" });
    expect(result.toolCalls).toHaveLength(1);
  });
});
