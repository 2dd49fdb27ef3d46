import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { agent, swarm } from "#runtime";
import { assertRunLog } from "#testing";
import { park, sleepUntil, tool } from "#tools";
import { Effects, modelOf, play, type Scenario, type Step } from "./resumable.ts";
import { agentOf } from "./scripted-agent.ts";

const noting = (effects: Effects, name: string, run: (n: number) => unknown = (n) => n) =>
  tool(name, "Notes that it was started", { n: "number" }, ({ n }, { callId }) => {
    effects.started.push(callId);
    return run(n);
  });

const call = (name: string, n: number) => ({ name, input: { n } });
const turns = (name: string): readonly Step[] => [
  { text: "First.", calls: [call(name, 0), call("note", 1)] },
  { calls: [call(name, 2)] },
  { text: "All done." },
];

let processes = 0;
/** Every process of an agent has call ids of its own. */
const agentIn = (...calls: Parameters<typeof agentOf>[0]) => agentOf(calls, `process-${(processes += 1)}`);

const both = (effects: Effects) => [noting(effects, "note"), noting(effects, "work")];

/** An agent with its own loop that notes something, and a model that answers. */
function agentAndModel(effects: Effects) {
  const first = agent({
    name: "first",
    backend: agentIn(call("note", 1), { name: "handoff", input: { to: "second", message: "Please answer." } }),
    tools: [noting(effects, "note")],
    handoffs: ["second"],
  });
  const second = agent({
    name: "second",
    backend: modelOf([{ calls: [call("note", 2)] }, { text: "Answered." }], "second"),
    tools: [noting(effects, "note")],
  });
  return swarm([first, second], { context: "shared" });
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: "calls whose results come from elsewhere",
    steps: turns("work"),
    options: (effects) => ({ tools: [noting(effects, "note"), noting(effects, "work", () => park())] }),
  },
  {
    name: "calls that sleep",
    steps: turns("work"),
    options: (effects) => ({ tools: [noting(effects, "note"), noting(effects, "work", () => sleepUntil(1, "slept"))] }),
  },
  {
    name: "calls that are asked about and then parked",
    steps: turns("work"),
    options: (effects) => ({
      tools: [noting(effects, "note"), noting(effects, "work", () => park())],
      permissions: { ask: ["work"] },
    }),
  },
  { name: "an agent with its own loop that says something", steps: [], doesLess: true, target: () => agentIn() },
  {
    name: "an agent with its own loop and our tools",
    steps: [],
    doesLess: true,
    target: () => agentIn(call("note", 1), call("work", 2)),
    options: (effects) => ({ tools: both(effects) }),
  },
  {
    name: "an agent with its own loop whose calls are asked about",
    steps: [],
    doesLess: true,
    target: () => agentIn(call("note", 1), call("work", 2)),
    options: (effects) => ({ tools: both(effects), permissions: { ask: ["note", "work"] } }),
  },
  {
    name: "an agent with its own loop whose calls are denied",
    steps: [],
    doesLess: true,
    allow: false,
    target: () => agentIn(call("note", 1), call("work", 2)),
    options: (effects) => ({ tools: both(effects), permissions: { deny: ["note"], ask: ["work"] } }),
  },
  {
    name: "an agent with its own loop whose results come from elsewhere",
    steps: [],
    doesLess: true,
    target: () => agentIn(call("work", 1), call("note", 2)),
    options: (effects) => ({ tools: [noting(effects, "note"), noting(effects, "work", () => park())] }),
  },
  {
    name: "an agent with its own loop that is aborted",
    steps: [],
    doesLess: true,
    abortAt: (event) => event.type === "tool-result",
    target: () => agentIn(call("note", 1), call("work", 2)),
    options: (effects) => ({ tools: both(effects) }),
  },
  { name: "an agent with its own loop that hands over", steps: [], doesLess: true, target: agentAndModel },
];

/** The places at which a log is cut: before each event, and at its end unless the run is over there. */
function cutsOf(log: readonly AgentEvent[], from = 0): readonly number[] {
  return Array.from({ length: log.length - from }, (_, at) => from + at);
}

function check(log: readonly AgentEvent[], past: readonly AgentEvent[], scenario: Scenario, where: string): void {
  expect(() => assertRunLog(log), where).not.toThrow();
  const done = log.at(-1);
  expect(done, where).toMatchObject({ type: "done" });
  if (isHandedOver(past)) expect(nameOfCalls(log.slice(past.length), "first"), where).toEqual([]);
  if (scenario.abortAt === undefined) expect(done, where).toMatchObject({ result: { status: "success" } });
  const items = (events: readonly AgentEvent[]) => events.filter((event) => !event.type.endsWith("-delta"));
  expect(items(log).slice(0, items(past).length), where).toEqual(items(past));
}

/** Whether the first agent had handed over: nothing of it runs afterwards. */
function isHandedOver(log: readonly AgentEvent[]): boolean {
  return log.some((event) => event.type === "tool-result" && event.name === "handoff" && !event.isError);
}

function nameOfCalls(log: readonly AgentEvent[], agentName: string): readonly string[] {
  return log.flatMap((event) => (event.type === "tool-call" && event.agent === agentName ? [event.name] : []));
}

describe.each(SCENARIOS)("Runs that survive: $name", (given) => {
  const scenario = { ...given, model: "scripted" as const, gives: "built" };

  it("continues from every prefix of its log, also from every prefix of a log that was continued: no tool runs twice", async () => {
    const whole = await play(scenario, new Effects());
    check(whole, [], scenario, "whole");
    for (const cut of cutsOf(whole)) {
      const past = whole.slice(0, cut);
      const begun = new Set(past.flatMap((event) => (event.type === "tool-call" ? [event.callId] : [])));
      for (const event of past) if (event.type === "permission" && event.state === "asked") begun.delete(event.callId);
      const effects = new Effects();
      const log = await play(scenario, effects, past);
      const where = `cut after ${cut} of ${whole.length} events: ${past.at(-1)?.type ?? "nothing"}`;
      check(log, past, scenario, where);
      const isAsked = past.some((event) => event.type === "permission" && event.state === "allowed");
      if (!isAsked)
        expect(
          effects.started.filter((id) => begun.has(id)),
          where,
        ).toEqual([]);
      // Every third, beginning at another place for each cut.
      for (const again of cutsOf(log, cut + 1 + (cut % 3)).filter((_, at) => at % 3 === 0)) {
        const twice = new Effects();
        const last = await play(scenario, twice, log.slice(0, again));
        check(last, log.slice(0, again), scenario, `${where}, and after ${again} of ${log.length}`);
        const answered = new Set(
          log.slice(0, again).flatMap((event) => (event.type === "tool-result" ? [event.callId] : [])),
        );
        expect(
          twice.started.filter((id) => answered.has(id)),
          where,
        ).toEqual([]);
        expect(new Set(twice.started).size, where).toBe(twice.started.length);
      }
    }
  });
});
