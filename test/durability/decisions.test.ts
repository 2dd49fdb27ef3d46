import { describe, expect, it } from "vitest";
import type { AgentBackend } from "#backends";
import { type AgentEvent, startItem, toolCallItem } from "#domain";
import { agent, type RunOptions, startRun, swarm } from "#runtime";
import { assertRunLog } from "#testing";
import { park, tool, type ToolContext } from "#tools";
import { Effects, modelOf, newWorld, play, type Scenario } from "./resumable.ts";
import { agentOf } from "./scripted-agent.ts";

type Kind = "model" | "agent";
const KINDS: readonly Kind[] = ["model", "agent"];

let processes = 0;
/** Makes these calls and says "Done."; an agent with its own loop has other call ids in every process. */
function backendOf(kind: Kind, ...calls: Parameters<typeof agentOf>[0]) {
  if (kind === "agent") return agentOf(calls, `process-${(processes += 1)}`);
  return modelOf([...calls.map((call) => ({ calls: [call] })), { text: "Done." }], "clerk");
}

const work = { name: "work", input: { n: 1 } };
const scenario = (more: Pick<Scenario, "target" | "options" | "gives">) => ({
  name: "",
  steps: [],
  model: "scripted" as const,
  ...more,
});
const upTo = (log: readonly AgentEvent[], type: AgentEvent["type"]): readonly AgentEvent[] =>
  log.slice(0, log.findIndex((event) => event.type === type) + 1);
const resultsOf = (log: readonly AgentEvent[]) =>
  log.flatMap((event) => (event.type === "tool-result" ? [{ callId: event.callId, output: event.output }] : []));

/** What a tool is told of its calls, and what it is run with. */
function noting(run: (context: ToolContext) => unknown, isIdempotent = true) {
  return tool("work", "Work", { n: "number" }, (_, context) => run(context), { idempotent: isIdempotent });
}

describe.each(KINDS)(
  "Runs that survive: what was decided about the calls of a continued run, on a %s backend",
  (kind) => {
    it("the message of a handoff that a hook has changed is the one that the next agent gets", async () => {
      const handOver = { name: "handoff", input: { to: "expert", message: "The key is 42." } };
      const clean = { "before-handoff": [() => ({ message: "Please answer." })] };
      const target = () => {
        const clerk = agent({ name: "clerk", backend: backendOf(kind, handOver), handoffs: ["expert"], hooks: clean });
        return swarm([clerk, agent({ name: "expert", backend: modelOf([{ text: "Done." }], "expert") })]);
      };
      const played = scenario({ target });
      const whole = await play(played, new Effects());
      assertRunLog(whole);
      for (let cut = 0; cut <= whole.findIndex(({ type }) => type === "handoff"); cut += 1) {
        const log = await play(played, new Effects(), whole.slice(0, cut));
        assertRunLog(log);
        const where = `cut after ${cut}: ${whole[cut - 1]?.type}`;
        expect(
          log.filter((event) => event.type === "handoff"),
          where,
        ).toMatchObject([{ to: "expert", message: "Please answer." }]);
        const told = log.filter((event) => event.type === "message" && event.agent === "expert");
        expect(JSON.stringify(told), where).not.toContain("42");
      }
    });

    it("a call of an idempotent tool runs again with the same key, and the model gets its result", async () => {
      const keys: string[] = [];
      const options = () => ({ tools: [noting(({ idempotencyKey }) => keys.push(idempotencyKey))] });
      const played = scenario({ target: () => backendOf(kind, work), options });
      const past = upTo(await play(played, new Effects()), "tool-call");
      const log = await play(played, new Effects(), past);
      assertRunLog(log);
      expect(keys.slice(0, 2)).toEqual([keys[0], keys[0]]);
      const call = past.at(-1) as AgentEvent & { type: "tool-call" };
      expect(resultsOf(log)[0]).toEqual({ callId: call.callId, output: 2 });
    });

    it("a call of an idempotent tool that nothing had allowed yet is decided before it runs", async () => {
      let ran = 0;
      const options = (): RunOptions => ({ tools: [noting(() => (ran += 1))], permission: () => ({ allow: false }) });
      const played = scenario({ target: () => backendOf(kind, work), options });
      const past = upTo(await play(played, new Effects()), "tool-call");
      const log = await play(played, new Effects(), past);
      assertRunLog(log);
      expect(ran).toBe(0);
      expect(log.find((event) => event.type === "tool-result")).toMatchObject({ skipped: "denied" });
    });

    it("the result of a parked call passes the guards", async () => {
      const guard = { name: "g", place: "tool-result", check: () => ({ replace: "masked" }) } as const;
      const options = () => ({ tools: [noting(() => park(), false)], guards: [guard] });
      const played = scenario({ target: () => backendOf(kind, work), options, gives: "secret" });
      const whole = await play(played, new Effects());
      const at = whole.findIndex((event) => event.type === "notice" && event.kind === "call-parked");
      const log = await play(played, new Effects(), whole.slice(0, at + 1));
      assertRunLog(log);
      expect(resultsOf(log)[0]).toMatchObject({ output: "masked" });
      const told = log.filter((event) => event.type === "message" && event.source === "millrace");
      expect(JSON.stringify(told)).not.toContain("secret");
    });
  },
);

describe("Runs that survive: calls of an agent with its own loop", () => {
  /** An agent that asks for a call before it announces it, or instead. */
  function quietAgent(announcesLate: boolean): AgentBackend {
    const base = agentOf([], "quiet");
    return {
      ...base,
      open: async (settings) => {
        const conversation = await base.open(settings);
        return {
          ...conversation,
          async send(messages, link) {
            await link.write([startItem({ backend: "scripted-agent", mode: "control" })]);
            await link.runTool({ callId: "quiet-call", ...work });
            if (announcesLate)
              await link.write([toolCallItem({ callId: "quiet-call", ...work, executedBy: "millrace" })]);
            await conversation.send(messages, link);
          },
        };
      },
    };
  }

  it.each([false, true])("no tool starts before its call is written, announced late: %s", async (announcesLate) => {
    const log: AgentEvent[] = [];
    let before: readonly AgentEvent[] = [];
    const tools = [noting(() => void (before = [...log]))];
    const run = startRun(quietAgent(announcesLate), "go", { tools }, newWorld(), {});
    for await (const event of run) log.push(event);
    expect(before.at(-1)).toMatchObject({ type: "tool-call", callId: "quiet-call", input: { n: 1 } });
    assertRunLog(log);
    expect(log.filter(({ type }) => type === "tool-call")).toHaveLength(1);
    expect(log.filter(({ type }) => type === "warning")).toEqual([]);
  });

  it("an agent that gives its calls the same ids in every process: decisions and tools have the id in the log", async () => {
    const ids: string[] = [];
    const options = () => ({
      tools: [noting(({ callId }) => ids.push(callId), false)],
      permissions: { ask: ["work"] },
    });
    const played = scenario({ target: () => agentOf([work], "same"), options });
    const past = upTo(await play(played, new Effects()), "permission");
    ids.length = 0;
    const log = await play(played, new Effects(), past);
    assertRunLog(log);
    const calls = log.flatMap((event) => (event.type === "tool-call" ? [event.callId] : []));
    const allowed = log.flatMap((event) =>
      event.type === "permission" && event.state === "allowed" ? [event.callId] : [],
    );
    expect({ ids, allowed }).toEqual({ ids: calls.slice(1), allowed: calls.slice(1) });
  });

  it("one of our calls that was never announced did not begin, and the agent is told so", async () => {
    const played = scenario({
      target: () => agentOf([work], `p-${(processes += 1)}`),
      options: () => ({ tools: [noting(() => 1, false)] }),
    });
    const whole = await play(played, new Effects());
    const at = whole.findIndex(({ type }) => type === "tool-call");
    const log = await play(played, new Effects(), whole.slice(0, at));
    assertRunLog(log);
    const told = log.flatMap((event) => (event.type === "message" && event.source === "millrace" ? event.blocks : []));
    expect(JSON.stringify(told)).toContain("did not run");
    expect(log.find(({ type }) => type === "tool-call")).toMatchObject({ executedBy: "millrace" });
  });
});
