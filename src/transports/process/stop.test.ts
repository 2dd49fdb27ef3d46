import { describe, expect, it } from "vitest";
import type { ProcessEntry, ProcessHandle } from "#domain";
import { createScriptedSpawn, createVirtualClock, type SpawnStep } from "#testing";
import type { ProcessTable } from "./process-table.ts";
import { watchTree } from "./process-tree.ts";
import { type StopOptions, stopProcess } from "./stop.ts";

interface Fake extends ProcessEntry {
  readonly tag?: string;
  /** The signals that end it. */
  readonly diesOf?: readonly string[];
}

/** A machine with a few processes, each of which ends on the given signals. */
function createMachine(processes: readonly Fake[]) {
  const alive = new Map(processes.map((entry) => [entry.pid, entry]));
  const sent: string[] = [];
  const table: ProcessTable = {
    source: "proc",
    list: async (except) => [...alive.values()].filter(({ pid }) => except?.has(pid) !== true),
    tagged: async (entries, { name, value }) =>
      entries.filter(({ pid }) => name === "MILLRACE_RUN" && alive.get(pid)?.tag === value),
    async signal(entries, signal) {
      for (const { pid, startTicks } of entries) {
        if (alive.get(pid)?.startTicks !== startTicks) continue;
        sent.push(`${signal} ${pid}`);
        const { diesOf = ["SIGTERM", "SIGKILL"] } = alive.get(pid) ?? {};
        if (diesOf.includes(signal)) alive.delete(pid);
      }
    },
  };
  return { table, alive, sent };
}

const TAG = { name: "MILLRACE_RUN", value: "run-1" };

async function scripted(steps: readonly SpawnStep[], clock = createVirtualClock()) {
  const spawn = createScriptedSpawn(steps, { clock });
  const handle = await spawn({ executable: "claude", args: [], env: {} });
  const stop = async (more: Partial<StopOptions> = {}) => {
    const stopping = stopProcess(handle, { clock, table: undefined, ...more });
    await clock.advance(30_000);
    return { report: await stopping, call: spawn.calls[0] };
  };
  return { clock, handle, stop };
}

describe("the steps of stopping", () => {
  it("R11: a clock that is set back an hour delays no signal", async () => {
    const clock = createVirtualClock(10_000_000);
    const spawn = createScriptedSpawn([{ ignore: ["SIGTERM"] }, { hang: true }], { clock });
    const handle = await spawn({ executable: "claude", args: [], env: {} });
    let setBy = 0;
    const machine = { now: () => clock.now() + setBy, after: clock.after };
    const stopping = stopProcess(handle, { clock: machine, table: undefined, immediate: true });
    await clock.advance(1000);
    setBy = -3_600_000;
    await clock.advance(2000);
    expect(spawn.calls[0]?.signals).toEqual(["SIGTERM", "SIGKILL"]);
    expect((await stopping).how).toBe("killed");
    expect(clock.pending()).toBe(0);
  });

  it("ends the input and sends no signal to a process that then exits", async () => {
    const { stop } = await scripted([{ waitForInput: "end" }, { exit: 0 }]);
    const { report, call } = await stop();
    expect(report).toEqual({ how: "end-of-input", survivors: [] });
    expect(call?.signals).toEqual([]);
  });

  it("sends SIGTERM after the first grace, and SIGKILL after the second", async () => {
    const clock = createVirtualClock();
    const spawn = createScriptedSpawn([{ ignore: ["SIGTERM"] }, { hang: true }], { clock });
    const handle = await spawn({ executable: "claude", args: [], env: {} });
    const stopping = stopProcess(handle, { clock, table: undefined });
    const seen: (readonly string[])[] = [];
    for (const ms of [4999, 1, 4999, 1]) {
      await clock.advance(ms);
      seen.push([...(spawn.calls[0]?.signals ?? [])]);
    }
    expect(seen).toEqual([[], ["SIGTERM"], ["SIGTERM"], ["SIGTERM", "SIGKILL"]]);
    await clock.advance(200);
    expect(await stopping).toEqual({ how: "killed", survivors: [] });
    expect(clock.pending()).toBe(0);
  });

  it("immediate: begins with SIGTERM, leaves the input open, and waits two seconds", async () => {
    const clock = createVirtualClock();
    const spawn = createScriptedSpawn([{ ignore: ["SIGTERM"] }, { hang: true }], { clock });
    const handle = await spawn({ executable: "claude", args: [], env: {} });
    const stopping = stopProcess(handle, { clock, table: undefined, immediate: true });
    await clock.advance(1999);
    expect(spawn.calls[0]).toMatchObject({ signals: ["SIGTERM"], inputEnded: false });
    await clock.advance(200);
    expect(spawn.calls[0]?.signals).toEqual(["SIGTERM", "SIGKILL"]);
    expect((await stopping).how).toBe("killed");
  });

  it("does nothing to a process that has exited", async () => {
    const { stop, handle } = await scripted([{ exit: 3 }]);
    await handle.exit;
    const { report, call } = await stop();
    expect(report).toEqual({ how: "gone", survivors: [] });
    expect(call).toMatchObject({ signals: [], inputEnded: false });
  });

  it("continues with signals if the process ends with its input and leaves children", async () => {
    const machine = createMachine([{ pid: 70, parent: 1, startTicks: 9, tag: "run-1" }]);
    const { stop } = await scripted([{ waitForInput: "end" }, { exit: 0 }]);
    const { report, call } = await stop({ table: machine.table, tag: TAG });
    expect(report).toEqual({ how: "terminated", survivors: [] });
    expect(call?.signals).toEqual([]);
    expect(machine.sent).toEqual(["SIGTERM 70"]);
  });

  it("names what cannot be ended, and gives up after a bounded time", async () => {
    const machine = createMachine([{ pid: 70, parent: 1, startTicks: 9, tag: "run-1", diesOf: [] }]);
    const { stop } = await scripted([{ exit: 0 }]);
    const { report } = await stop({ table: machine.table, tag: TAG, immediate: true, killGraceMs: 1000 });
    expect(report).toEqual({ how: "killed", survivors: [70] });
  });

  it("suspends everything before it kills", async () => {
    const machine = createMachine([
      { pid: 70, parent: 1, startTicks: 9, tag: "run-1", diesOf: ["SIGKILL"] },
      { pid: 71, parent: 70, startTicks: 9, diesOf: ["SIGKILL"] },
    ]);
    const { stop } = await scripted([{ exit: 0 }]);
    await stop({ table: machine.table, tag: TAG, immediate: true });
    const kills = machine.sent.slice(machine.sent.indexOf("SIGSTOP 70"));
    expect(kills).toEqual(["SIGSTOP 70", "SIGSTOP 71", "SIGKILL 70", "SIGKILL 71"]);
  });

  it("does not trust a quick look that finds nothing: all processes are checked before it resolves", async () => {
    const machine = createMachine([{ pid: 60, parent: 1, startTicks: 6 }]);
    const { stop, clock } = await scripted([{ waitForInput: "end" }, { waitMs: 1000 }, { exit: 0 }]);
    clock.after(500, () => machine.alive.set(60, { pid: 60, parent: 1, startTicks: 99, tag: "run-1" }));
    const { report } = await stop({ table: machine.table, tag: TAG });
    expect(report).toEqual({ how: "terminated", survivors: [] });
    expect(machine.sent).toEqual(["SIGTERM 60"]);
  });

  it("never signals a number whose process is no longer known to exist", async () => {
    const machine = createMachine([{ pid: 1000, parent: 1, startTicks: 9 }]);
    const { stop } = await scripted([{ hang: true }]);
    const { call } = await stop({ table: machine.table, tag: TAG, immediate: true });
    // By its handle; not by its id, which may belong to another process.
    expect(call?.signals).toEqual(["SIGTERM"]);
    expect(machine.sent).toEqual([]);
  });

  it("signals each process of a tree once, the process itself by the table", async () => {
    const machine = createMachine([
      { pid: 50, parent: 9, startTicks: 5 },
      { pid: 51, parent: 50, startTicks: 6 },
    ]);
    const clock = createVirtualClock();
    const handle: ProcessHandle = {
      pid: 50,
      get isRunning() {
        return machine.alive.has(50);
      },
      stdout: (async function* () {})(),
      stderr: (async function* () {})(),
      write: async () => undefined,
      endInput: () => undefined,
      kill: () => expect.fail("a second signal"),
      exit: new Promise(() => undefined),
    };
    const stopping = stopProcess(handle, { clock, table: machine.table, tag: TAG, immediate: true });
    await clock.advance(100);
    expect(await stopping).toEqual({ how: "terminated", survivors: [] });
    expect(machine.sent).toEqual(["SIGTERM 50", "SIGTERM 51"]);
  });
});

describe("a process tree", () => {
  const watch = (processes: readonly Fake[], root: number | undefined = 50) => {
    const machine = createMachine(processes);
    const tree = watchTree({ table: machine.table, root, tag: TAG });
    return { ...machine, look: async () => (await tree.look()).map((entry) => entry.pid) };
  };

  it("contains the process, its descendants and what has its tag, and nothing else", async () => {
    const { look } = watch([
      { pid: 1, parent: 0, startTicks: 0 },
      { pid: process.pid, parent: 50, startTicks: 9, tag: "run-1" },
      { pid: 50, parent: 9, startTicks: 5, tag: "run-1" },
      { pid: 52, parent: 51, startTicks: 7 },
      { pid: 51, parent: 50, startTicks: 6 },
      { pid: 60, parent: 1, startTicks: 6, tag: "run-1" },
      { pid: 61, parent: 60, startTicks: 6 },
      { pid: 70, parent: 1, startTicks: 6, tag: "run-2" },
    ]);
    expect(new Set(await look())).toEqual(new Set([50, 51, 52, 60, 61]));
  });

  it("ignores what is older than the process, because it was not started by it", async () => {
    const { look } = watch([
      { pid: 50, parent: 9, startTicks: 5 },
      { pid: 40, parent: 50, startTicks: 4 },
    ]);
    expect(await look()).toEqual([50]);
  });

  it("remembers a child whose parent has died since", async () => {
    const { look, alive } = watch([
      { pid: 50, parent: 9, startTicks: 5 },
      { pid: 51, parent: 50, startTicks: 6 },
    ]);
    expect(await look()).toEqual([50, 51]);
    alive.delete(50);
    alive.set(51, { pid: 51, parent: 1, startTicks: 6 });
    expect(await look()).toEqual([51]);
  });

  it("looks at an unrelated process once, and again on request, because its number may be reused by the tree", async () => {
    const machine = createMachine([{ pid: 60, parent: 1, startTicks: 6 }]);
    const reads: number[] = [];
    const table: ProcessTable = {
      ...machine.table,
      async list(except) {
        const entries = await machine.table.list(except);
        reads.push(...entries.map(({ pid }) => pid));
        return entries;
      },
    };
    const tree = watchTree({ table, root: undefined, tag: TAG });
    expect(await tree.look()).toEqual([]);
    expect(await tree.look()).toEqual([]);
    expect(reads).toEqual([60]);
    machine.alive.set(60, { pid: 60, parent: 1, startTicks: 99, tag: "run-1" });
    expect(await tree.look()).toEqual([]);
    expect(await tree.look({ fresh: true })).toHaveLength(1);
  });

  it("forgets a number that now belongs to another process", async () => {
    const { look, alive } = watch([
      { pid: 50, parent: 9, startTicks: 5 },
      { pid: 51, parent: 50, startTicks: 6 },
    ]);
    await look();
    alive.set(51, { pid: 51, parent: 1, startTicks: 99 });
    expect(await look()).toEqual([50]);
  });
});
