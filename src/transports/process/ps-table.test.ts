import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { watchTree } from "./process-tree.ts";
import { createPsTable, findTagged, parseProcesses } from "./ps-table.ts";
import { writeCompanion } from "./watchdog-script.ts";

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
      if (!args.includes("command=")) return more.list?.() ?? fixture("macos-list.txt");
      return fixture("macos-variables.txt");
    },
  });
  return { table, asked };
}

const CLI = { pid: "500", ppid: "1", pgid: "500", stat: "Is", lstart: "Tue Nov  3 09:02:07 2026" };
const SHELL = { pid: "501", ppid: "500", pgid: "501", stat: "Ss+p", lstart: "Tue Nov  3 09:02:08 2026" };
const ORPHAN = { pid: "502", ppid: "1", pgid: "502", stat: "S", lstart: "Tue Nov  3 09:02:09 2026" };
const OLDER = { pid: "77", ppid: "1", pgid: "77", stat: "Is", lstart: "Mon Nov  2 01:00:00 2026" };
const TAGGED = "HOME=/home/x MILLRACE_RUN=b7Qk-3_zA PATH=/bin";

/**
 * The `ps` of the BSDs, as their sources read its arguments: after the first `=` the rest of an `-o` is a header, `-p` is
 * one number, and variables stand in front of the command.
 */
function createBsdPs(): { readonly run: (path: string, args: readonly string[]) => Promise<string> } {
  const processes = [
    { ...OLDER, command: "HOME=/root /usr/sbin/cron" },
    { ...CLI, command: `${TAGGED} claude -p` },
    { ...SHELL, command: "PATH=/bin /bin/sh -c x" },
    { ...ORPHAN, command: `${TAGGED} sleep 600` },
  ];
  return {
    run: async (_, args) => {
      const columns: string[] = [];
      let only: number | undefined;
      let isHeaded = false;
      for (const [index, arg] of args.entries()) {
        const value = args[index + 1] ?? "";
        if (arg === "-o") {
          const names = value.split("=")[0]?.split(",") ?? [];
          isHeaded ||= value.slice(value.indexOf("=") + 1) !== "";
          columns.push(...names);
        }
        if (arg === "-p") only = Number.parseInt(value, 10);
      }
      const lines = processes
        .filter(({ pid }) => only === undefined || Number(pid) === only)
        .map((one) => columns.map((name) => one[name as keyof typeof one] ?? "").join(" "));
      return [...(isHeaded ? [columns.join(" ")] : []), ...lines, ""].join("\n");
    },
  };
}

describe.each(["freebsd", "netbsd", "openbsd"] as const)("F-A14: the ps of %s", (platform) => {
  it("is asked so that it understands: all columns, and the variables of all processes", async () => {
    const table = createPsTable({ platform, ...createBsdPs() });
    expect((await table.list()).map(({ pid, parent, group }) => [pid, parent, group])).toEqual([
      [77, 1, 77],
      [500, 1, 500],
      [501, 500, 501],
      [502, 1, 502],
    ]);
    const living = await watchTree({ table, root: 500, tag: TAG }).look();
    expect(living.map(({ pid }) => pid).toSorted((a, b) => a - b)).toEqual([500, 501, 502]);
  });

  it("is asked in the same way by the watchdog's companion", () => {
    const script = writeCompanion("ps", platform);
    expect(script).toContain("/bin/ps -ax -o pid= -o ppid= -o pgid= -o stat= -o lstart= |");
    expect(script).toContain("/bin/ps axeww -o pid= -o command= |");
  });
});

describe("F-A14: the output of ps", () => {
  it("is read with parents, groups and starts; dead ones are omitted", () => {
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
  ])("contains no process where there is none: %j", (output) => {
    expect(parseProcesses(output)).toEqual([]);
  });

  it("shows which processes have a variable, but none whose variable only looks like it", () => {
    expect(findTagged(fixture("macos-variables.txt"), TAG)).toEqual([4121, 4134]);
  });

  it("finds the whole tree on a Mac, where the shell shows no variables and its orphan has another parent", async () => {
    const { table, asked } = createMac();
    const living = await watchTree({ table, root: 4121, tag: TAG }).look();
    expect(new Set(living.map(({ pid }) => pid))).toEqual(new Set([4121, 4133, 4134, 4135]));
    expect(asked[0]).toEqual([..."/bin/ps -ax -o pid= -o ppid= -o pgid= -o stat= -o lstart=".split(" ")]);
    expect(asked[1]?.slice(0, -1)).toEqual([..."/bin/ps -Eww -o pid= -o command= -p".split(" ")]);
  });

  it("fails if ps lists nothing, instead of reporting that nothing is left", async () => {
    const { table } = createMac({ list: async () => "" });
    await expect(table.list()).rejects.toThrow("/bin/ps");
    const broken = createMac({ list: () => Promise.reject(new Error("ENOENT")) });
    await expect(broken.table.list()).rejects.toThrow("ENOENT");
  });
});
