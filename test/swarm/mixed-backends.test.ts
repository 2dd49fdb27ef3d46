import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { createEmulator, type EmulatorScript } from "#emulator";
import { agent, type RunOptions, startRun, type Swarm, swarm, systemWorld } from "#runtime";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import { locateRealCli, realCliOptions } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";

// One swarm, one agent on a model API and one on the real Claude Code CLI, both asking our offline server.

const executable = locateRealCli();
const home = temporaryFolder("swarm");

async function play(target: Swarm, script: EmulatorScript, options: RunOptions = {}): Promise<readonly AgentEvent[]> {
  const emulator = createEmulator({ script });
  const { url } = await emulator.listen();
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "sk-ant-offline",
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: "offline",
  };
  try {
    const run = startRun(
      target,
      "I was charged twice",
      { cwd: home, claudeCode: realCliOptions(), ...options },
      { ...systemWorld(), env },
    );
    const log: AgentEvent[] = [];
    for await (const event of run) log.push(event);
    assertRunLog(log);
    await run.closed;
    return log;
  } finally {
    await emulator.close();
  }
}

const types = (log: readonly AgentEvent[], type: AgentEvent["type"]) => log.filter((event) => event.type === type);
const refunded: unknown[] = [];
const refund = tool("refund", "Refund a charge", { charge: "string" }, (input) => {
  refunded.push(input);
  return "refunded";
});

describe.runIf(executable !== undefined)("S2-24: agents of one swarm on different backends", () => {
  it("a model hands over to Claude Code, which uses our tool", async () => {
    refunded.length = 0;
    const desk = swarm([
      agent({ name: "triage", backend: "openai/test", instructions: "Sort.", handoffs: ["billing"] }),
      agent({ name: "billing", backend: "claude-code", instructions: "Refund.", tools: [refund] }),
    ]);
    const log = await play(desk, {
      rules: [
        {
          match: { tool: "handoff" },
          reply: { toolCalls: [{ name: "handoff", input: { to: "billing", message: "charge c1 came twice" } }] },
        },
        {
          match: { tool: "mcp__millrace__refund", turn: 0 },
          reply: { toolCalls: [{ name: "mcp__millrace__refund", input: { charge: "c1" } }] },
        },
        { match: { tool: "mcp__millrace__refund" }, reply: { text: "It is refunded." } },
      ],
      otherwise: { text: "something else" },
    });
    expect(types(log, "handoff")).toMatchObject([{ from: "triage", to: "billing" }]);
    expect(types(log, "start")).toMatchObject([{ backend: "openai" }, { backend: "claude-code", mode: "control" }]);
    expect(types(log, "result")).toMatchObject([
      { subtype: "handoff", agent: "triage" },
      { subtype: "success", agent: "billing", text: "It is refunded." },
    ]);
    expect(refunded).toEqual([{ charge: "c1" }]);
    expect(log.at(-1)).toMatchObject({ result: { status: "success", agent: "billing" } });
  });

  it("Claude Code hands over to a model, and what it may not do the next one may not do either", async () => {
    refunded.length = 0;
    const desk = swarm([
      agent({
        name: "triage",
        backend: "claude-code",
        instructions: "Sort.",
        handoffs: ["billing"],
        permissions: { deny: ["refund"] },
      }),
      agent({ name: "billing", backend: "openai/test", instructions: "Refund.", tools: [refund] }),
    ]);
    const log = await play(desk, {
      rules: [
        {
          match: { tool: "mcp__millrace__handoff", turn: 0 },
          reply: {
            toolCalls: [{ name: "mcp__millrace__handoff", input: { to: "billing", message: "charge c1 came twice" } }],
          },
        },
        { match: { tool: "refund", turn: 0 }, reply: { toolCalls: [{ name: "refund", input: { charge: "c1" } }] } },
        { match: { tool: "refund" }, reply: { text: "I may not." } },
      ],
      otherwise: { text: "over to you" },
    });
    expect(types(log, "handoff")).toMatchObject([{ from: "triage", to: "billing", message: "charge c1 came twice" }]);
    expect(refunded).toEqual([]);
    expect(types(log, "permission").at(-1)).toMatchObject({
      state: "denied",
      by: "rule",
      name: "refund",
      agent: "billing",
    });
    expect(log.at(-1)).toMatchObject({ result: { status: "success", agent: "billing" } });
  });

  it("I21: Claude Code that keeps calling tools after a handoff is stopped, and the next agent continues", async () => {
    const name = "mcp__millrace__handoff";
    const desk = swarm([
      agent({ name: "triage", backend: "claude-code", handoffs: ["billing"] }),
      agent({ name: "billing", backend: "openai/test" }),
    ]);
    const calls = [{ name, input: { to: "billing", message: "please" } }];
    const log = await play(desk, {
      rules: [
        { match: { tool: name }, reply: { text: "I hand over.", toolCalls: calls } },
        { match: { user: "please" }, reply: { text: "Billing is here." } },
      ],
    });
    expect(types(log, "tool-call").length).toBeLessThanOrEqual(3);
    expect(types(log, "result")).toMatchObject([
      { subtype: "handoff", isError: false, agent: "triage" },
      { subtype: "success", agent: "billing", text: "Billing is here." },
    ]);
  });
});
