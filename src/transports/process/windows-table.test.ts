import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "#testing";
import type { ProcessHandle } from "#domain";
import { watchTree } from "./process-tree.ts";
import { stopProcess } from "./stop.ts";
import { createWindowsTable, parseQuery, parseWmic } from "./windows-table.ts";

const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../../../test/fixtures/processes", name), "utf8").replaceAll("\n", "\r\n");

/** A Windows whose processes are lines of `number parent start`. */
function createWindows(lines: readonly string[], more: { readonly hasPowerShell?: boolean } = {}) {
  let processes = [...lines];
  const asked: string[][] = [];
  const table = createWindowsTable({
    systemRoot: "C:\\Windows",
    run: async (path, args) => {
      asked.push([path, ...args]);
      if (path.endsWith("powershell.exe")) {
        if (more.hasPowerShell === false) throw new Error("ENOENT");
        return processes.join("\r\n");
      }
      if (path.endsWith("wmic.exe")) return fixture("windows-wmic.txt");
      const killed = new Set(args);
      processes = processes.filter((line) => !killed.has(line.split(" ")[0] as string));
      return "SUCCESS";
    },
  });
  return { table, asked, left: () => processes, start: (line: string) => processes.push(line) };
}

const kills = (asked: readonly string[][]): readonly string[][] =>
  asked.filter(([path]) => path?.endsWith("taskkill.exe")).map(([, ...args]) => args);

describe("F-A14: the processes of Windows", () => {
  it("are read from PowerShell and from wmic, with the same starts", () => {
    const queried = parseQuery(fixture("windows-query.txt"));
    expect(queried.map(({ pid, parent }) => [pid, parent])).toEqual([
      [120, 4],
      [7312, 5020],
      [7440, 7312],
      [7444, 7440],
      [9999, 0],
    ]);
    const listed = parseWmic(fixture("windows-wmic.txt"));
    expect(listed.map(({ pid, parent }) => [pid, parent])).toEqual([
      [7312, 5020],
      [7440, 7312],
    ]);
    for (const { pid, startTicks } of listed) {
      expect(startTicks).toBe(queried.find((entry) => entry.pid === pid)?.startTicks);
    }
  });

  it("are queried by the full paths of the system's own programs, wmic if PowerShell is missing", async () => {
    const { table, asked } = createWindows([], { hasPowerShell: false });
    expect((await table.list()).map(({ pid }) => pid)).toEqual([7312, 7440]);
    expect(asked.map(([path]) => path)).toEqual([
      "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe",
      "C:\\Windows\\System32\\wbem\\wmic.exe",
    ]);
  });

  it("are ended by taskkill, whole trees, if number and start are those that were seen", async () => {
    const { table, asked, left } = createWindows(["10 1 100", "20 10 200", "30 1 999"]);
    await table.signal(
      [
        { pid: 10, parent: 1, startTicks: 100 },
        { pid: 30, parent: 1, startTicks: 300 },
      ],
      "SIGTERM",
    );
    expect(kills(asked)).toEqual([["/F", "/T", "/PID", "10"]]);
    expect(left()).toEqual(["20 10 200", "30 1 999"]);
  });

  it("are not affected by signals that Windows does not have", async () => {
    const { table, asked } = createWindows(["10 1 100"]);
    await table.signal([{ pid: 10, parent: 1, startTicks: 100 }], "SIGSTOP");
    expect(asked).toEqual([]);
  });

  it("are followed by their parents, including exited ones, and not by a reused number", async () => {
    const windows = createWindows(["10 1 100", "20 10 200"]);
    const tree = watchTree({ table: windows.table, root: 10, tag: { name: "MILLRACE_RUN", value: "a" } });
    expect((await tree.look()).map(({ pid }) => pid)).toEqual([10, 20]);
    windows.left().splice(1, 1, "30 20 300", "40 20 150");
    expect((await tree.look()).map(({ pid }) => pid)).toEqual([10, 30]);
    windows.start("20 1 400");
    windows.start("50 20 500");
    expect((await tree.look({ fresh: true })).map(({ pid }) => pid)).toEqual([10, 30]);
  });

  it("end gracefully with their input, and otherwise all at once", async () => {
    const windows = createWindows(["10 1 100", "20 10 200"]);
    const clock = createVirtualClock();
    let inputEnded = false;
    const handle: ProcessHandle = {
      pid: 10,
      get isRunning() {
        return windows.left().some((line) => line.startsWith("10 "));
      },
      stdout: (async function* () {})(),
      stderr: (async function* () {})(),
      write: async () => undefined,
      endInput: () => void (inputEnded = true),
      kill: () => expect.fail("a signal"),
      exit: new Promise(() => undefined),
    };
    const stopping = stopProcess(handle, { clock, table: windows.table, stdinGraceMs: 100 });
    await clock.advance(99);
    expect([inputEnded, kills(windows.asked)]).toEqual([true, []]);
    await clock.advance(1000);
    expect(await stopping).toEqual({ how: "terminated", survivors: [] });
    expect(kills(windows.asked)).toEqual([["/F", "/T", "/PID", "10", "/PID", "20"]]);
  });
});
