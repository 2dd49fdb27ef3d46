import { describe, expect, it } from "vitest";
import type { AgentBackend, AgentSettings } from "#backends";
import { type AgentEvent, messageItem, resultItem, startItem, toolCallItem, toolResultItem } from "#domain";
import { type RunOptions, startRun } from "#runtime";
import { assertRunLog } from "#testing";
import { newWorld } from "./resumable.ts";

const USAGE = { inputTokens: 1_000_000, outputTokens: 0 };
const MODEL = "claude-haiku-4-5";

/** An agent that calls one of its own tools in each reply, as often as told, and costs a dollar in each process. */
function agentThat(replies: number, processName: string, settings: AgentSettings[], model = MODEL): AgentBackend {
  return {
    kind: "agent",
    name: "scripted-agent",
    provider: "anthropic",
    model,
    explain: () => ({}) as never,
    open: async (given) => {
      settings.push(given);
      return {
        sessionId: undefined,
        async send(_, link) {
          await link.write([startItem({ backend: "scripted-agent", mode: "control" })]);
          for (let at = 0; at < replies; at += 1) {
            const call = { callId: `${processName}-${at}`, name: "look", input: {} };
            const isLast = at === replies - 1;
            const blocks = isLast
              ? [{ type: "text" as const, text: "Done." }]
              : [{ type: "tool-call" as const, ...call }];
            const id = `reply-${processName}-${at}`;
            await link.write([messageItem({ id, role: "assistant", blocks, usage: USAGE, model })]);
            if (isLast) continue;
            await link.write([toolCallItem({ ...call, executedBy: "backend" })]);
            await link.write([toolResultItem({ ...call, output: "seen", isError: false })]);
          }
          const usage = { inputTokens: replies * 1_000_000, outputTokens: 0 };
          await link.write([resultItem({ subtype: "success", isError: false, usage, turns: replies, costUsd: 1 })]);
        },
        interrupt: async () => undefined,
        setModel: () => Promise.reject(new Error("It has one model.")),
        setPermissionMode: () => Promise.reject(new Error("It has no permission modes.")),
        close: async () => undefined,
      };
    },
  };
}

async function play(backend: AgentBackend, options: RunOptions, past?: readonly AgentEvent[]) {
  const resumed = past && { id: past[0]?.runId ?? "", events: past };
  const run = startRun(backend, "go", options, newWorld(), { resumed });
  const log: AgentEvent[] = [];
  for await (const event of run) log.push(event);
  assertRunLog(log);
  return { log, result: await run.result() };
}

/** The log as a crash after the second of three replies leaves it. */
async function crashed(options: RunOptions, model?: string): Promise<readonly AgentEvent[]> {
  const { log } = await play(agentThat(3, "a", [], model), options);
  const messages = log.filter((event) => event.type === "message" && event.role === "assistant");
  return log.slice(0, log.indexOf(messages[1] as AgentEvent) + 1);
}

describe("Runs that survive: the limits of an agent with its own loop", () => {
  it("the turns and the dollars of its earlier process count against limits.turns and limits.costUsd", async () => {
    const options = { limits: { turns: 5, costUsd: 10 } };
    const past = await crashed(options);
    const settings: AgentSettings[] = [];
    await play(agentThat(1, "b", settings), options, past);
    expect(settings).toHaveLength(1);
    // Two replies of a million tokens for a dollar each.
    expect(settings[0]).toMatchObject({ turns: 3, costUsd: 8 });
  });

  it.each([
    [{ turns: 2 }, "error_max_turns"],
    [{ costUsd: 1.5 }, "error_max_budget_usd"],
    [{ tokens: 1_500_000 }, "error_max_total_tokens"],
  ] as const)("one that had used up %j is not started again", async (limits, subtype) => {
    const past = await crashed({});
    const settings: AgentSettings[] = [];
    const { result } = await play(agentThat(1, "b", settings), { limits }, past);
    expect(settings).toEqual([]);
    expect(result).toMatchObject({ subtype, status: "error", turns: 2, usage: { inputTokens: 2_000_000 }, costUsd: 2 });
    expect(result.error?.message ?? "").toContain("limits.");
  });

  it("the result has what all of its processes used", async () => {
    const past = await crashed({});
    const { result } = await play(agentThat(1, "b", []), {}, past);
    expect(result).toMatchObject({ status: "success", turns: 3, usage: { inputTokens: 3_000_000 }, costUsd: 3 });
  });

  it("a cost that nobody knows is not given, and a limit that cannot be kept is reported", async () => {
    const past = await crashed({}, "unheard-of");
    const { log, result } = await play(agentThat(1, "b", [], "unheard-of"), { limits: { costUsd: 10 } }, past);
    expect(result).toMatchObject({ status: "success", turns: 3 });
    expect(result.costUsd).toBeUndefined();
    expect(log).toContainEqual(expect.objectContaining({ type: "warning", code: "option-ignored" }));
  });
});
