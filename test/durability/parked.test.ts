import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { type RunOptions, startRun, type Target } from "#runtime";
import { StoredMark } from "#sessions";
import { assertRunLog, type VirtualClock } from "#testing";
import { park, sleepUntil, tool } from "#tools";
import type { GivenAnswer } from "#run";
import { modelOf, newWorld } from "./resumable.ts";
import { agentOf } from "./scripted-agent.ts";

const model = () => modelOf([{ text: "I ask.", calls: [{ name: "work", input: { n: 1 } }] }, { text: "Done." }]);

/** One process: carries the run out until it is parked or over, on a clock of its own. */
async function inProcess(
  options: RunOptions,
  past: readonly AgentEvent[] = [],
  answers: readonly GivenAnswer[] = [],
  target: Target = model(),
) {
  const world = newWorld();
  const clock = world.clock as VirtualClock;
  const last = past.at(-1);
  if (last !== undefined) await clock.advance(last.ts - clock.now() + 1000);
  const stored = new StoredMark();
  const id = past[0]?.runId;
  const resumed = id === undefined ? undefined : { id, events: past, answers };
  const run = startRun(target, "go", options, world, { stored, resumed });
  const log: AgentEvent[] = [];
  run.on("*", (event) => {
    log.push(event);
    stored.advance(event.seq);
  });
  for (let minutes = 0; minutes < 3 && !run.isComplete(); minutes += 1) await clock.advance(60_000);
  return { log, run, parked: await run.parked(), result: await run.result() };
}

describe("Runs that survive: parking", () => {
  it("a question that nobody answers in limits.parkMs releases the process, and the stored answer counts later", async () => {
    let ran = 0;
    const work = tool("work", "Work", { n: "number" }, () => (ran += 1));
    const options = { tools: [work], permissions: { ask: ["work"] } };
    const first = await inProcess(options);
    expect(first.parked).toMatchObject({ calls: [{ name: "work", for: "answer" }] });
    expect(first.result.status).toBe("waiting");
    expect(first.log.at(-1)).toMatchObject({ type: "notice", kind: "parked" });
    await expect(first.run.output()).rejects.toMatchObject({ code: "run-parked" });
    const callId = first.parked?.calls[0]?.callId as string;
    const second = await inProcess(options, first.log, [{ callId, decision: { allow: true } }]);
    expect({ ran, status: second.result.status, text: second.result.text }).toEqual({
      ran: 1,
      status: "success",
      text: "Done.",
    });
    assertRunLog(second.log);
    expect(second.log.filter(({ type }) => type === "permission")).toHaveLength(2);
  });

  it("without an answer the question is still open in the next process, and parks again", async () => {
    const options = { tools: [tool("work", "Work", { n: "number" }, () => 1)], permissions: { ask: ["work"] } };
    const first = await inProcess(options);
    const second = await inProcess(options, first.log);
    expect(second.result.status).toBe("waiting");
    expect(second.log.filter((event) => event.type === "permission" && event.state === "asked")).toHaveLength(1);
  });

  it("a tool that parks its call gets the result that was given elsewhere", async () => {
    let ran = 0;
    const work = tool("work", "Work", { n: "number" }, () => {
      ran += 1;
      return park();
    });
    const first = await inProcess({ tools: [work] });
    expect(first.parked).toMatchObject({ calls: [{ name: "work", for: "result" }] });
    const callId = first.parked?.calls[0]?.callId as string;
    const second = await inProcess({ tools: [work] }, first.log, [
      { callId, result: { output: "built", isError: false } },
    ]);
    expect(second.log).toContainEqual(expect.objectContaining({ type: "tool-result", output: "built" }));
    expect({ ran, status: second.result.status }).toEqual({ ran: 1, status: "success" });
    assertRunLog(second.log);
  });

  it("a result that comes before the run is parked counts at once", async () => {
    const work = tool("work", "Work", { n: "number" }, () => park());
    const world = newWorld();
    const run = startRun(model(), "go", { tools: [work] }, world);
    run.on("notice", ({ kind, data }) => {
      const { callId } = data as { callId: string };
      if (kind === "call-parked") queueMicrotask(() => run.giveResult(callId, { output: "built", isError: false }));
    });
    expect(await run.output()).toBe("Done.");
    expect(await run.parked()).toBeUndefined();
  });

  it("a result that is given before the time of a sleeping tool counts, and leaves no timer", async () => {
    const work = tool("work", "Work", { n: "number" }, () => sleepUntil(Number.MAX_SAFE_INTEGER));
    const world = newWorld();
    const clock = world.clock as VirtualClock;
    const run = startRun(model(), "go", { tools: [work] }, world);
    run.on("notice", ({ kind, data }) => {
      const { callId } = data as { callId: string };
      if (kind === "call-parked") queueMicrotask(() => run.giveResult(callId, { output: "early", isError: false }));
    });
    expect(await run.output()).toBe("Done.");
    await run.closed;
    expect(clock.pending()).toBe(0);
  });

  it("a tool that sleeps goes on when its time has come, in the same process or in a later one", async () => {
    const at = 1_700_000_000_000;
    const soon = tool("work", "Work", { n: "number" }, () => sleepUntil(at + 30_000, "slept"));
    const quick = await inProcess({ tools: [soon] });
    expect(quick.log).toContainEqual(expect.objectContaining({ type: "tool-result", output: "slept" }));
    const late = tool("work", "Work", { n: "number" }, () => sleepUntil(at + 61_000));
    const first = await inProcess({ tools: [late] });
    expect(first.log.at(-1)).toMatchObject({ kind: "parked", data: { until: at + 61_000 } });
    const second = await inProcess({ tools: [late] }, first.log);
    expect(second.result.status).toBe("success");
    assertRunLog(second.log);
  });
});

describe("Runs that survive: a stored answer counts for exactly one call", () => {
  const call = { name: "work", input: { n: 1 } };

  /** A tool that has to be asked about, and the inputs that it ran with. */
  function asking() {
    const ran: unknown[] = [];
    const work = tool("work", "Work", { n: "number" }, ({ n }) => ran.push(n));
    return { ran, options: { tools: [work], permissions: { ask: ["work"] } } };
  }

  /** The log as a crash right after the first event that fits leaves it. */
  function until(log: readonly AgentEvent[], isLast: (event: AgentEvent) => boolean): readonly AgentEvent[] {
    const at = log.findIndex(isLast);
    expect(at).toBeGreaterThan(0);
    return log.slice(0, at + 1);
  }

  it.each([{ allow: true }, { allow: true, input: { n: 1 } }])(
    "a model that makes the same call again after a crash is asked about again (%j)",
    async (decision) => {
      const { ran, options } = asking();
      const twice = () => modelOf([{ calls: [call] }, { text: "Again.", calls: [call] }, { text: "Done." }]);
      const first = await inProcess(options, [], [], twice());
      const answers = [{ callId: first.parked?.calls[0]?.callId as string, decision }];
      const second = await inProcess(options, first.log, answers, twice());
      expect({ ran: ran.length, status: second.result.status }).toEqual({ ran: 1, status: "waiting" });
      const crashed = until(second.log, ({ type }) => type === "tool-result");
      const third = await inProcess(options, crashed, answers, twice());
      expect({ ran: ran.length, status: third.result.status }).toEqual({ ran: 1, status: "waiting" });
    },
  );

  it("of two equal calls in one reply, an answer to the first does not permit the second", async () => {
    const { ran, options } = asking();
    const both = () => modelOf([{ calls: [call, call] }, { text: "Done." }]);
    const first = await inProcess(options, [], [], both());
    const answers = [{ callId: "scripted-0-call-0", decision: { allow: true } }];
    const second = await inProcess(options, first.log, answers, both());
    expect({ ran: ran.length, status: second.result.status }).toEqual({ ran: 1, status: "waiting" });
    expect(second.parked?.calls.map(({ callId }) => callId)).toEqual(["scripted-0-call-1"]);
  });

  it("an agent that used an answer under another id is asked about the next call, also after a crash", async () => {
    const { ran, options } = asking();
    const first = await inProcess(options, [], [], agentOf([call], "a"));
    expect(first.parked?.calls).toEqual([{ callId: "a-0", name: "work", for: "answer" }]);
    const answers = [{ callId: "a-0", decision: { allow: true } }];
    const second = await inProcess(options, first.log, answers, agentOf([call, call], "b"));
    expect({ ran: ran.length, calls: second.parked?.calls.map(({ callId }) => callId) }).toEqual({
      ran: 1,
      calls: ["b-1"],
    });
    const ends = [
      (event: AgentEvent) => event.type === "permission" && event.callId === "b-0" && event.state === "allowed",
      (event: AgentEvent) => event.type === "tool-result" && event.callId === "b-0",
    ];
    for (const isLast of ends) {
      const crashed = until(second.log, isLast);
      const third = await inProcess(options, crashed, answers, agentOf([call], "c"));
      expect({ ran: ran.length, calls: third.parked?.calls.map(({ callId }) => callId) }).toEqual({
        ran: 1,
        calls: ["c-0"],
      });
      assertRunLog((await inProcess(options, third.log, [], agentOf([], "d"))).log);
    }
  });

  it("an agent that crashed before its answer took effect gets it once, under its next id", async () => {
    const { ran, options } = asking();
    const first = await inProcess(options, [], [], agentOf([call], "a"));
    const answers = [{ callId: "a-0", decision: { allow: true } }];
    const second = await inProcess(options, first.log, answers, agentOf([call], "b"));
    const crashed = until(second.log, (event) => event.type === "permission" && event.callId === "b-0");
    expect(ran).toHaveLength(1);
    const third = await inProcess(options, crashed, answers, agentOf([call, call], "c"));
    expect({ ran: ran.length, calls: third.parked?.calls.map(({ callId }) => callId) }).toEqual({
      ran: 2,
      calls: ["c-1"],
    });
  });

  it("an answer to another agent's question does not count", async () => {
    const { ran, options } = asking();
    const first = await inProcess(options, [], [], agentOf([call], "a"));
    const log = first.log.map((event) => ({ ...event, agent: "other" }) as AgentEvent);
    const answers = [{ callId: "a-0", decision: { allow: true } }];
    const second = await inProcess(options, log, answers, agentOf([call], "b"));
    expect({ ran: ran.length, status: second.result.status }).toEqual({ ran: 0, status: "waiting" });
  });
});
