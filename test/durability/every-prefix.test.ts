import { describe, expect, it } from "vitest";
import { agent, agentTool, swarm } from "#runtime";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import type { ModelBackend } from "#backends";
import { type AgentEvent, isDelta, textDelta } from "#domain";
import { Effects, MODELS, modelOf, play, type Scenario, type Step } from "./resumable.ts";

const noting = (effects: Effects, name: string, idempotent = false) =>
  tool(
    name,
    "Notes that it was started",
    { n: "number" },
    ({ n }, { callId }) => {
      effects.started.push(callId);
      return n;
    },
    { idempotent },
  );

type Call = NonNullable<Step["calls"]>[number];

const calls = (name: string, count: number): readonly Call[] =>
  Array.from({ length: count }, (_, n) => ({ name, input: { n } }));
const threeTurns: readonly Step[] = [
  { text: "First.", calls: calls("note", 2) },
  { calls: calls("note", 1) },
  { text: "All noted." },
];

const noted = (effects: Effects) => ({ tools: [noting(effects, "note")] });

/** A swarm of two: the clerk notes something and hands over, the expert notes something and answers. */
function clerkAndExpert(
  effects: Effects,
  handoffContext: "fresh" | "shared",
  first: readonly Call[] = calls("note", 1),
) {
  const handOver = { name: "handoff", input: { to: "expert", message: "Please answer." } };
  const expert = agent({
    name: "expert",
    backend: modelOf(threeTurns, "expert"),
    tools: [noting(effects, "note")],
  });
  const clerk = agent({
    name: "clerk",
    backend: modelOf([{ calls: first }, { text: "I pass on.", calls: [handOver, ...calls("note", 1)] }], "clerk"),
    tools: [noting(effects, "note"), helperOf(effects)],
    handoffs: ["expert"],
  });
  return swarm([clerk, expert], { context: handoffContext });
}

/** An agent as a tool, which notes something in three turns. */
function helperOf(effects: Effects) {
  return agentTool(agent({ name: "helper", backend: modelOf(threeTurns, "helper"), tools: [noting(effects, "note")] }));
}

const FAILING_MODEL: ModelBackend = {
  ...modelOf([], "failing"),
  async *stream() {
    yield [textDelta("failing-0", 0, "I begin")];
    throw new Error("no");
  },
};

const SCENARIOS: readonly Scenario[] = [
  { name: "text alone", steps: [{ text: "Hello there." }] },
  {
    name: "tools, one after the other and in parallel",
    steps: threeTurns,
    options: (effects) => noted(effects),
  },
  {
    name: "one call at a time",
    steps: threeTurns,
    options: (effects) => ({ ...noted(effects), toolConcurrency: 1 }),
  },
  {
    name: "calls and results in pairs",
    steps: threeTurns,
    options: (effects) => ({ ...noted(effects), parallelToolCalls: false }),
  },
  {
    name: "a tool that may run again",
    idempotent: ["note"],
    steps: threeTurns,
    options: (effects) => ({ tools: [noting(effects, "note", true)] }),
  },
  {
    name: "a tool that fails",
    steps: threeTurns,
    options: (effects) => ({
      tools: [
        tool("note", "Fails", { n: "number" }, (_, { callId }) => {
          effects.started.push(callId);
          throw new Error("no");
        }),
      ],
    }),
  },
  { name: "a tool that does not exist", steps: threeTurns },
  {
    name: "calls that are asked about and allowed",
    steps: threeTurns,
    options: (effects) => ({ ...noted(effects), permissions: { ask: ["note"] } }),
  },
  {
    name: "calls that are asked about and denied",
    allow: false,
    steps: threeTurns,
    options: (effects) => ({ ...noted(effects), permissions: { ask: ["note"] } }),
  },
  {
    name: "calls that a rule denies",
    steps: threeTurns,
    options: (effects) => ({ ...noted(effects), permissions: { deny: ["note"] } }),
  },
  {
    name: "calls that a callback allows with other arguments",
    steps: threeTurns,
    options: (effects) => ({ ...noted(effects), permission: () => ({ allow: true, input: { n: 99 } }) }),
  },
  { name: "a handoff with a fresh context", steps: [], target: (effects) => clerkAndExpert(effects, "fresh") },
  { name: "a handoff with a shared context", steps: [], target: (effects) => clerkAndExpert(effects, "shared") },
  {
    name: "a structured answer that does not fit at first",
    isScripted: true,
    steps: [{ calls: calls("note", 2) }, { text: '{"n":"one"}' }, { text: '{"n":1}' }],
    options: (effects) => ({ ...noted(effects), output: { n: "number" } }),
  },
  {
    name: "a structured answer that a tool gives",
    isScripted: true,
    steps: [
      { calls: calls("note", 1) },
      { calls: [{ name: "final_answer", input: { n: "one" } }] },
      { calls: [{ name: "final_answer", input: { n: 1 } }, ...calls("note", 1)] },
    ],
    options: (effects) => ({ ...noted(effects), output: { n: "number" } }),
  },
  {
    name: "a structured answer",
    steps: [{ calls: calls("note", 2) }, { text: '{"n":1}' }],
    options: (effects) => ({ ...noted(effects), output: { n: "number" } }),
  },
  {
    name: "hooks with notes, and feedback before the end",
    steps: [...threeTurns, { text: "Better." }],
    options: (effects) => ({
      ...noted(effects),
      hooks: {
        "after-tool": [() => ({ context: "Mind the gap." })],
        "before-stop": [({ sentBack }) => (sentBack === 0 ? { block: "Do better." } : undefined)],
      },
    }),
  },
  {
    name: "the last turn that is allowed",
    steps: threeTurns,
    options: (effects) => ({ ...noted(effects), limits: { turns: 2 } }),
  },
  {
    name: "an agent as a tool",
    // What the agent would have done is not done again.
    doesLess: true,
    steps: [{ calls: [{ name: "helper", input: { prompt: "Help." } }] }, { text: "Helped." }],
    options: (effects) => ({ tools: [helperOf(effects)] }),
  },
  {
    name: "two agents as tools at once, one of which fails",
    doesLess: true,
    steps: [
      { calls: ["helper", "failing"].map((name) => ({ name, input: { prompt: "Help." } })) },
      { text: "Helped by one." },
    ],
    options: (effects) => ({
      tools: [helperOf(effects), agentTool(agent({ name: "failing", backend: FAILING_MODEL }))],
    }),
  },
  {
    name: "an agent as a tool of an agent that is a tool",
    doesLess: true,
    steps: [{ calls: [{ name: "middle", input: { prompt: "Help." } }] }, { text: "Helped." }],
    options: (effects) => {
      const steps = [
        { text: "I ask.", calls: [{ name: "helper", input: { prompt: "Help." } }, ...calls("note", 1)] },
        { text: "I was helped." },
      ];
      const tools = [helperOf(effects), noting(effects, "note")];
      return { tools: [agentTool(agent({ name: "middle", backend: modelOf(steps, "middle"), tools }))] };
    },
  },
  {
    name: "a handoff by an agent that has another one as a tool",
    doesLess: true,
    steps: [],
    target: (effects) => clerkAndExpert(effects, "shared", [{ name: "helper", input: { prompt: "Help." } }]),
  },
  {
    name: "an abort in the middle",
    abortAt: (event) => event.type === "tool-result",
    doesLess: true,
    steps: threeTurns,
    options: (effects) => noted(effects),
  },
];

function callsOf(log: readonly AgentEvent[], type: "tool-call" | "tool-result"): string[] {
  return log.flatMap((event) => (event.type === type ? [event.callId] : []));
}

/** Calls that may have begun: announced, and neither asked about without an answer nor denied. */
function begunIn(past: readonly AgentEvent[]): ReadonlySet<string> {
  const begun = new Set(callsOf(past, "tool-call"));
  for (const event of past) {
    if (event.type === "permission" && event.state !== "allowed") begun.delete(event.callId);
    if (event.type === "permission" && event.state === "allowed") begun.add(event.callId);
  }
  return begun;
}

/** Deltas may be merged for a late reader. */
function itemsOf(log: readonly AgentEvent[]): readonly AgentEvent[] {
  return log.filter((event) => !isDelta(event));
}

function statusOf(log: readonly AgentEvent[]): string {
  const done = log.at(-1);
  return done?.type === "done" ? `${done.result.status} ${done.result.subtype}` : "none";
}

const LOGS = SCENARIOS.flatMap((scenario) => {
  const isScripted = scenario.isScripted === true || scenario.target !== undefined;
  return (isScripted ? MODELS.slice(0, 1) : MODELS).map((model) => ({ ...scenario, model }));
});

/** Agents that are tools: when each began, and how it ended, by its call. */
function nestedIn(log: readonly AgentEvent[]) {
  const notices = log.filter((event) => event.type === "notice" && event.parent !== undefined);
  return (kind: string) => notices.flatMap((event) => (event.type === "notice" && event.kind === kind ? [event] : []));
}

it("Runs that survive: there are seventy logs and more", () => {
  expect(LOGS.length).toBeGreaterThanOrEqual(70);
});

describe.each(LOGS)("Runs that survive: $name, on $model", (scenario) => {
  it("continues from every prefix of its log: it ends once, with every call answered, and no tool runs twice", async () => {
    const whole = await play(scenario, new Effects());
    assertRunLog(whole);
    for (let cut = 0; cut < whole.length; cut += 1) {
      const past = whole.slice(0, cut);
      const effects = new Effects();
      const log = await play(scenario, effects, past);
      const where = `cut after ${cut} of ${whole.length} events: ${past.at(-1)?.type ?? "nothing"}`;
      expect(() => assertRunLog(log), where).not.toThrow();
      expect(itemsOf(log).slice(0, itemsOf(past).length), where).toEqual(itemsOf(past));
      expect(new Set(effects.started).size, where).toBe(effects.started.length);
      const nested = nestedIn(log);
      const ended = nested("agent-result").map(({ parent }) => parent);
      const answered = callsOf(log, "tool-result");
      // An agent that fails has no verdict, and its call a result at once.
      const failed = nested("agent-start").filter(({ agent: name }) => name === "failing");
      const starts = nested("agent-start").filter(
        (start) => !failed.includes(start) || !answered.includes(start.parent ?? ""),
      );
      expect(ended, where).toEqual(expect.arrayContaining(starts.map(({ parent }) => parent)));
      const begun = begunIn(past);
      expect(scenario.idempotent === undefined ? effects.started.filter((id) => begun.has(id)) : [], where).toEqual([]);
      expect({ status: statusOf(log), calls: callsOf(log, "tool-call").length }, where).toEqual({
        status: scenario.abortAt === undefined ? statusOf(whole) : expect.anything(),
        calls: scenario.doesLess === true ? expect.anything() : callsOf(whole, "tool-call").length,
      });
    }
  });
});
