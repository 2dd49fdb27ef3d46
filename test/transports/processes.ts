import { readdirSync, readFileSync } from "node:fs";
import type { ProcessEntry } from "#domain";
import { createControlGroups } from "#transports";

export const onLinux = process.platform === "linux";

/** Everything that lives, read here once more, so that the tests do not believe the code they test. */
export function listProcesses(): readonly ProcessEntry[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const stat = readProc(`${name}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [parent, group, session, startTicks] = [1, 2, 3, 19].map((index) => Number(fields[index]));
    if (stat === "" || fields[0] === "Z" || fields[0] === "X") return [];
    return [{ pid: Number(name), parent, group, session, startTicks } as ProcessEntry];
  });
}

/** Everything that lives and carries the tag. */
export function tagged(value: string): readonly ProcessEntry[] {
  return listProcesses().filter(({ pid }) => tagOf(pid) === value);
}

/** The tag that a process carries, if any. */
export function tagOf(pid: number): string | undefined {
  const variable = readProc(`${pid}/environ`)
    .split("\0")
    .find((text) => text.startsWith("MILLRACE_RUN="));
  return variable?.slice("MILLRACE_RUN=".length);
}

/** The text of a file below /proc; nothing when it is gone. */
export function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "latin1");
  } catch {
    return "";
  }
}

/** The dead children of this process that nobody has collected. */
export function zombies(): readonly string[] {
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state === "Z" && Number(parent) === process.pid;
    } catch {
      return false;
    }
  });
}

export function openFiles(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Looks until it holds, for a bounded time: how soon the system does its part is not ours to say. */
export async function until(holds: () => boolean, ms = 60_000): Promise<void> {
  const end = Date.now() + ms;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`It did not come true within ${ms} ms: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Root may, and whoever was given a group of his own. */
export function canMakeGroups(): boolean {
  const group = createControlGroups().create(`millrace-test-${process.pid}`);
  return group?.remove() === true;
}

/** Where the control groups are mounted. */
export function mountOfGroups(): string {
  const line = readProc("self/mountinfo")
    .split("\n")
    .find((text) => text.includes(" - cgroup2 "));
  return line?.split(" ")[4] ?? "";
}
