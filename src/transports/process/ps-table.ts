import type { ProcessEntry, ProcessTag } from "#domain";
import { type ProcessTable, sendByNumber } from "./process-table.ts";
import { createRunProgram, type RunProgram } from "./run-program.ts";

export interface PsTableOptions {
  readonly platform: NodeJS.Platform;
  /** Default: the real `ps`. */
  readonly run?: RunProgram;
}

/** The same path on macOS, the BSDs and Linux. */
const PS = "/bin/ps";
const TIMEOUT_MS = 5000;
/** How many ids are passed to `ps` at once. */
const BATCH = 500;

/**
 * The processes of a machine, read with `ps`, for macOS and the BSDs. Less precise than `/proc` in two ways.
 *
 * Start times are in whole seconds. And macOS hides the variables of its own programs (`/bin/sh`, `/bin/sleep`), so
 * these are found only by their parents and their process group. (`ps` shows no session ids there.)
 */
export function createPsTable({ platform, run = runPs }: PsTableOptions): ProcessTable {
  const list = async (): Promise<readonly ProcessEntry[]> => {
    const entries = parseProcesses(await run(PS, LIST_ARGS));
    if (entries.length === 0) throw new Error(`${PS} listed no process.`);
    return entries;
  };
  return {
    source: "ps",
    list: async (except) => (await list()).filter(({ pid }) => except?.has(pid) !== true),
    async tagged(entries, tag) {
      const found = new Set<number>();
      const add = async (args: readonly string[]): Promise<void> => {
        for (const pid of findTagged(await run(PS, args), tag)) found.add(pid);
      };
      // The BSDs take one id at a time, so all processes are listed there.
      if (platform !== "darwin" && entries.length > 0) await add(variablesArgs(platform));
      for (let start = 0; platform === "darwin" && start < entries.length; start += BATCH) {
        const pids = entries.slice(start, start + BATCH).map(({ pid }) => pid);
        await add(["-Eww", ...VARIABLES_COLUMNS, "-p", pids.join(",")]);
      }
      return entries.filter(({ pid }) => found.has(pid));
    },
    async signal(entries, signal) {
      if (entries.length === 0) return;
      const now = new Map((await list()).map(({ pid, startTicks }) => [pid, startTicks]));
      for (const { pid, startTicks } of entries) if (now.get(pid) === startTicks) sendByNumber(pid, signal);
    },
  };
}

// Fixes the time zone and the language of the output, so that it can be parsed.
const runPs = createRunProgram({ env: { LC_ALL: "C", TZ: "UTC0", PATH: "/usr/bin:/bin" }, timeoutMs: TIMEOUT_MS });

/** One `-o` per column, because on the BSDs everything after the first `=` is the header of that column. */
export const LIST_ARGS = ["-ax", "-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "stat=", "-o", "lstart="] as const;
const VARIABLES_COLUMNS = ["-o", "pid=", "-o", "command="] as const;

/**
 * All processes with their variables: `-E` on macOS, where `-e` means "all processes"; `e` without a dash elsewhere.
 * `ww`: without truncating lines.
 */
export function variablesArgs(platform: NodeJS.Platform): readonly string[] {
  return [platform === "darwin" ? "-axEww" : "axeww", ...VARIABLES_COLUMNS];
}

const LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+\w+\s+(\w+)\s+(\d+)\s+(\d+):(\d+):(\d+)\s+(\d+)\s*$/;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `4711 4700 4711 Ss Tue Nov 17 14:24:34 2026`, one line per process; dead ones are left out. */
export function parseProcesses(output: string): readonly ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const line of output.split("\n")) {
    const match = LINE.exec(line);
    if (match === null) continue;
    const [, pid, parent, group, state, month, day, hour, minute, second, year] = match;
    const monthIndex = MONTHS.indexOf(month as string);
    if (/^[ZX]/.test(state as string) || monthIndex === -1) continue;
    entries.push({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      startTicks: Date.UTC(Number(year), monthIndex, Number(day), Number(hour), Number(minute), Number(second)),
    });
  }
  return entries;
}

/**
 * The ids of the lines `pid command variables` that contain the variable. Arguments and variables cannot be
 * distinguished here; a process with the tag as an argument has it from the run.
 */
export function findTagged(output: string, { name, value }: ProcessTag): readonly number[] {
  const wanted = `${name}=${value}`;
  return output.split("\n").flatMap((line) => {
    const [pid = "", ...words] = line.trimStart().split(" ");
    return words.includes(wanted) && /^\d+$/.test(pid) ? [Number(pid)] : [];
  });
}
