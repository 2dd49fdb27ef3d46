import { win32 } from "node:path";
import type { ProcessEntry } from "#domain";
import type { ProcessTable } from "./process-table.ts";
import { createRunProgram, type RunProgram } from "./run-program.ts";

export interface WindowsTableOptions {
  /** Default: the real programs. */
  readonly run?: RunProgram;
  /** The Windows folder. Default: the variable `SystemRoot`. */
  readonly systemRoot?: string | undefined;
}

/** Starting PowerShell alone takes about half a second, on a busy machine several. */
const TIMEOUT_MS = 20_000;
const BATCH = 50;
/**
 * Prints the id, parent and start time of each process. Milliseconds since 1601, so that a start time is an integer.
 */
export const WINDOWS_QUERY =
  "Get-CimInstance Win32_Process | ForEach-Object { '{0} {1} {2}' -f $_.ProcessId, $_.ParentProcessId, " +
  "$(if ($_.CreationDate) { [int64][math]::Floor($_.CreationDate.ToFileTimeUtc() / 10000) } else { 0 }) }";
/** The milliseconds between 1601 and 1970. */
const EPOCH_1601_MS = 11_644_473_600_000;

/**
 * The processes of Windows by its process query (CIM, or `wmic` if that fails), ended with `taskkill`.
 *
 * The variables of other processes cannot be read there, so `tagged` finds none; but a process keeps the id of its
 * parent for life. There are no signals: SIGTERM and SIGKILL end a process at once, all others do nothing.
 */
export function createWindowsTable(options: WindowsTableOptions = {}): ProcessTable {
  const root = options.systemRoot ?? process.env["SystemRoot"] ?? "C:\\Windows";
  const run = options.run ?? createRunProgram({ env: systemVariables(root), timeoutMs: TIMEOUT_MS });
  const system = (...path: readonly string[]): string => win32.join(root, "System32", ...path);

  const list = async (): Promise<readonly ProcessEntry[]> => {
    const powershell = system("WindowsPowerShell", "v1.0", "powershell.exe");
    const queried = await run(powershell, [
      "-NoLogo",
      "-NoProfile",
      "-NonInteractive",
      "-Command",
      WINDOWS_QUERY,
    ]).catch(() => "");
    const entries = parseQuery(queried);
    if (entries.length > 0) return entries;
    const wmic = ["process", "get", "CreationDate,ParentProcessId,ProcessId", "/format:csv"];
    const listed = parseWmic(await run(system("wbem", "wmic.exe"), wmic));
    if (listed.length === 0) throw new Error("Neither PowerShell nor wmic listed the processes.");
    return listed;
  };

  return {
    source: "windows",
    list: async (except) => (await list()).filter(({ pid }) => except?.has(pid) !== true),
    tagged: async () => [],
    async signal(entries, signal) {
      if (entries.length === 0 || (signal !== "SIGTERM" && signal !== "SIGKILL")) return;
      const now = new Map((await list()).map(({ pid, startTicks }) => [pid, startTicks]));
      const same = entries.filter(({ pid, startTicks }) => now.get(pid) === startTicks);
      for (let start = 0; start < same.length; start += BATCH) {
        const pids = same.slice(start, start + BATCH).flatMap(({ pid }) => ["/PID", String(pid)]);
        await run(system("taskkill.exe"), ["/F", "/T", ...pids]);
      }
    },
  };
}

/** Only the variables that PowerShell needs to load its own modules. */
function systemVariables(root: string): Record<string, string> {
  const temporary = process.env["TEMP"];
  return {
    SystemRoot: root,
    windir: root,
    Path: win32.join(root, "System32"),
    ...(temporary !== undefined && { TEMP: temporary }),
  };
}

/** `id parent start` on each line. */
export function parseQuery(output: string): readonly ProcessEntry[] {
  return output.split(/\r?\n/).flatMap((line) => {
    const match = /^(\d+) (\d+) (\d+)\s*$/.exec(line);
    return match === null ? [] : entryOf(Number(match[1]), Number(match[2]), Number(match[3]));
  });
}

const WMIC_LINE = /^[^,]*,(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\.(\d{3})\d*([+-]\d+),(\d+),(\d+)\s*$/;

/** `node,20261117142434.123456+060,parent,id`: local time, then its offset from UTC in minutes. */
export function parseWmic(output: string): readonly ProcessEntry[] {
  return output.split(/[\r\n]+/).flatMap((line) => {
    const match = WMIC_LINE.exec(line);
    if (match === null) return [];
    const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, ms = 0, ahead = 0, parent = 0, pid = 0] =
      match.slice(1).map(Number);
    const utc = Date.UTC(year, month - 1, day, hour, minute - ahead, second, ms);
    return entryOf(pid, parent, utc + EPOCH_1601_MS);
  });
}

/** Ids 0 and 4 are the system itself. */
function entryOf(pid: number, parent: number, startTicks: number): readonly ProcessEntry[] {
  return pid <= 4 ? [] : [{ pid, parent, startTicks }];
}
