import { describe, expect, it } from "vitest";
import type { ProcessEntry } from "#domain";
import { createVirtualClock } from "#testing";
import type { ControlGroup, ControlGroups } from "./control-group.ts";
import { createFollow as createStart, type FollowOptions } from "./family.ts";
import type { ProcessTable } from "./process-table.ts";

const TAG = { name: "MILLRACE_RUN", value: "run/1" };
const NO_GROUPS: Pick<ControlGroups, "create"> = { create: () => undefined };

/** Follows a process that has just been started with this id. */
const createFollow = (options: FollowOptions) => {
  const follow = createStart(options);
  return (pid: number, tag: typeof TAG) => follow(tag, () => ({ pid })).family;
};

function createMachine(source: ProcessTable["source"] = "proc") {
  const alive = new Map<number, ProcessEntry>();
  const set = (pid: number, parent: number, startTicks = pid): void => void alive.set(pid, { pid, parent, startTicks });
  let looks = 0;
  const table: ProcessTable = {
    source,
    async list(except) {
      looks += 1;
      return [...alive.values()].filter(({ pid }) => except?.has(pid) !== true);
    },
    tagged: async () => [],
    signal: async () => undefined,
  };
  return { table, alive, set, looks: () => looks };
}

/**
 * A group that contains the processes added to it. `refuses`: no process can be moved; `isLate`: a process can be moved only
 * after its start.
 */
function createGroup({ refuses = false, isLate = false } = {}) {
  const inside = new Set<number>();
  const done: string[] = [];
  let busyFor = 2;
  const group: ControlGroup = {
    path: "/groups/one",
    startInside(start) {
      const child = start();
      if (!refuses && !isLate && child.pid !== undefined) inside.add(child.pid);
      return child;
    },
    add(pid) {
      if (!refuses) inside.add(pid);
      return !refuses;
    },
    startOf: (pid) => pid,
    pids: () => [...inside],
    kill: () => void done.push("kill"),
    remove() {
      busyFor -= 1;
      done.push(busyFor >= 0 && !refuses ? "busy" : "removed");
      return busyFor < 0 || refuses;
    },
  };
  const groups: Pick<ControlGroups, "create"> = {
    create(name) {
      done.push(name);
      return group;
    },
  };
  return { groups, inside, done };
}

const pids = (living: readonly ProcessEntry[]): readonly number[] => living.map(({ pid }) => pid);

describe("F-A5: a process that is followed by polling", () => {
  it("is remembered with everything seen in its tree, even without any trace later", async () => {
    const { table, set } = createMachine();
    const clock = createVirtualClock();
    set(50, 1);
    const family = createFollow({ table, groups: NO_GROUPS, clock })(50, TAG);
    await clock.advance(0);
    set(51, 50);
    await clock.advance(500);
    set(51, 1);
    expect(pids((await family?.look()) ?? [])).toEqual([50, 51]);
    family?.close();
    family?.close();
    expect(clock.pending()).toBe(0);
  });

  it.each([
    ["proc", 500],
    ["ps", 2000],
    ["windows", 10_000],
  ] as const)("is polled by %s every %i ms, and ten of them no more often together", async (source, ms) => {
    const { table, looks } = createMachine(source);
    const clock = createVirtualClock();
    const follow = createFollow({ table, groups: NO_GROUPS, clock });
    const families = [50, 51, 52, 53, 54, 55, 56, 57, 58, 59].map((pid) => follow(pid, TAG));
    await clock.advance(0);
    const before = looks();
    await clock.advance(ms * 10);
    expect(looks() - before).toBe(10);
    for (const family of families) family?.close();
    await clock.advance(ms * 10);
    expect([looks() - before, clock.pending()]).toEqual([10, 0]);
  });

  it("is still followed if reading the table fails once", async () => {
    const machine = createMachine();
    let isBroken = true;
    const table: ProcessTable = {
      ...machine.table,
      list: (except) => (isBroken ? Promise.reject(new Error("ps is gone")) : machine.table.list(except)),
    };
    const clock = createVirtualClock();
    const family = createFollow({ table, groups: NO_GROUPS, clock })(50, TAG);
    await expect(family?.look()).rejects.toThrow("ps is gone");
    machine.set(50, 1);
    isBroken = false;
    await clock.advance(500);
    expect(pids((await family?.look()) ?? [])).toEqual([50]);
    family?.close();
  });

  it("reports the living processes when they change", async () => {
    const { table, set } = createMachine();
    const clock = createVirtualClock();
    set(50, 1);
    const family = createFollow({ table, groups: NO_GROUPS, clock })(50, TAG);
    const reports: (readonly number[])[] = [];
    if (family !== undefined) family.onChange = (living) => void reports.push(pids(living));
    await clock.advance(1000);
    set(51, 50);
    await clock.advance(1000);
    expect(reports).toEqual([[50], [50, 51]]);
    family?.close();
  });

  it("is not followed where processes cannot be listed", () => {
    expect(createFollow({ table: undefined, groups: NO_GROUPS, clock: createVirtualClock() })(50, TAG)).toBeUndefined();
  });
});

describe("F-A5: a process in a control group", () => {
  it("keeps a process without any trace, is not polled, and is removed when it is empty", async () => {
    const { table, set, looks } = createMachine();
    const { groups, inside, done } = createGroup();
    const clock = createVirtualClock();
    set(50, 1);
    const family = createFollow({ table, groups, clock })(50, TAG);
    await clock.advance(60_000);
    expect([looks(), family?.controlGroup]).toEqual([0, "/groups/one"]);
    set(70, 1, 73);
    inside.add(70);
    expect(pids((await family?.look()) ?? [])).toEqual([50, 70]);
    family?.killAtOnce();
    family?.close();
    await clock.advance(60_000);
    expect(done).toEqual(["millrace-run_1", "kill", "busy", "busy", "removed"]);
    expect(clock.pending()).toBe(0);
  });

  it("does not mistake another process that reuses its number for its own", async () => {
    const { table, set } = createMachine();
    const { groups, inside } = createGroup();
    set(50, 1);
    const family = createFollow({ table, groups, clock: createVirtualClock() })(50, TAG);
    inside.delete(50);
    set(50, 1, 90);
    expect(await family?.look()).toEqual([]);
  });

  it("adds the processes that it started before it was moved itself", async () => {
    const { table, set } = createMachine();
    const { groups, inside } = createGroup({ isLate: true });
    const clock = createVirtualClock();
    set(50, 1);
    set(51, 50);
    createFollow({ table, groups, clock })(50, TAG);
    await clock.advance(0);
    expect([...inside]).toEqual([50, 51]);
  });

  it("falls back to polling if the group can be created but no process moved into it", async () => {
    const { table, set, looks } = createMachine();
    const { groups, done } = createGroup({ refuses: true });
    const clock = createVirtualClock();
    set(50, 1);
    const family = createFollow({ table, groups, clock })(50, TAG);
    await clock.advance(1000);
    expect([family?.controlGroup, done, looks()]).toEqual([undefined, ["millrace-run_1", "removed"], 3]);
    family?.close();
  });

  it("is removed when the process cannot be started", () => {
    const { table } = createMachine();
    const failed = createGroup({ refuses: true });
    const follow = createStart({ table, groups: failed.groups, clock: createVirtualClock() });
    expect(follow(TAG, () => ({ pid: undefined })).family).toBeUndefined();
    const thrown = (): never => {
      throw new Error("E2BIG");
    };
    expect(() => follow(TAG, thrown)).toThrow("E2BIG");
    expect(failed.done).toEqual(["millrace-run_1", "removed", "millrace-run_1", "removed"]);
  });
});
