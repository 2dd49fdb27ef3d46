import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { type RunOptions, startRun } from "#runtime";
import { StoredMark } from "#sessions";
import { assertRunLog, type VirtualClock } from "#testing";
import { park, sleepUntil, tool } from "#tools";
import type { GivenAnswer } from "#run";
import { modelOf, newWorld } from "./resumable.ts";

const model = () => modelOf([{ text: "I ask.", calls: [{ name: "work", input: { n: 1 } }] }, { text: "Done." }]);

/** One process: carries the run out until it is parked or over, on a clock of its own. */
async function inProcess(options: RunOptions, past: readonly AgentEvent[] = [], answers: readonly GivenAnswer[] = []) {
  const world = newWorld();
  const clock = world.clock as VirtualClock;
  const last = past.at(-1);
  if (last !== undefined) await clock.advance(last.ts - clock.now() + 1000);
  const stored = new StoredMark();
  const id = past[0]?.runId;
  const resumed = id === undefined ? undefined : { id, events: past, answers };
  const run = startRun(model(), "go", options, world, { stored, resumed });
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
