import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { watchTree } from "./process-tree.ts";
import { createPsTable, findTagged, parseProcesses } from "./ps-table.ts";

const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../../../test/fixtures/processes", name), "utf8");
const TAG = { name: "MILLRACE_RUN", value: "b7Qk-3_zA" };

/** A Mac whose `ps` output comes from the fixtures. */
function createMac(more: { readonly list?: () => Promise<string> } = {}) {
  const asked: string[][] = [];
  const table = createPsTable({
    platform: "darwin",
    run: async (path, args) => {
      asked.push([path, ...args]);
      if (args[0] === "-axo") return more.list?.() ?? fixture("macos-list.txt");
      return fixture("macos-variables.txt");
    },
  });
  return { table, asked };
}

describe("F-A14: what ps says", () => {
  it("is read with parents, groups and starts; dead ones are left out", () => {
    const entries = parseProcesses(fixture("macos-list.txt"));
    expect(entries.map(({ pid }) => pid)).toEqual([1, 332, 501, 4120, 4121, 4133, 4134, 4135, 4140, 99_999]);
    expect(entries.find(({ pid }) => pid === 4135)).toEqual({
      pid: 4135,
      parent: 1,
      group: 4133,
      startTicks: Date.parse("2026-11-17T09:02:16Z"),
    });
    expect(entries.find(({ pid }) => pid === 501)?.startTicks).toBe(Date.parse("2026-11-09T19:00:00Z"));
  });

  it.each([
    "",
    "\n\n",
    "ps: illegal option -- o",
    " 12 1 12 S not a date at all",
    "12 1 12 S Tue Foo 17 09:02:16 2026",
  ])("holds no process where there is none: %j", (output) => {
    expect(parseProcesses(output)).toEqual([]);
  });

  it("shows who carries a variable, and nobody whose variable only looks like it", () => {
    expect(findTagged(fixture("macos-variables.txt"), TAG)).toEqual([4121, 4134]);
  });

  it("finds the whole tree on a Mac, where the shell shows no variables and its orphan has another parent", async () => {
    const { table, asked } = createMac();
    const living = await watchTree({ table, root: 4121, tag: TAG }).look();
    expect(new Set(living.map(({ pid }) => pid))).toEqual(new Set([4121, 4133, 4134, 4135]));
    expect(asked[0]).toEqual(["/bin/ps", "-axo", "pid=,ppid=,pgid=,stat=,lstart="]);
    expect(asked[1]?.slice(0, 4)).toEqual(["/bin/ps", "-Eww", "-o", "pid=,command="]);
  });

  it("fails when ps lists nothing, instead of saying that nothing is left", async () => {
    const { table } = createMac({ list: async () => "" });
    await expect(table.list()).rejects.toThrow("/bin/ps");
    const broken = createMac({ list: () => Promise.reject(new Error("ENOENT")) });
    await expect(broken.table.list()).rejects.toThrow("ENOENT");
  });
});
