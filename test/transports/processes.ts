import { readdirSync, readFileSync } from "node:fs";
import { createProcessTable, type ProcessEntry, type ProcessTable } from "#transports";

export const onLinux = process.platform === "linux";

/** The table of this machine; these tests run where there is one. */
export function realTable(): ProcessTable {
  const table = createProcessTable();
  if (table === undefined) throw new Error("There is no /proc here.");
  return table;
}

/** Everything that lives. */
export function listProcesses(): readonly ProcessEntry[] {
  const table = realTable();
  return table.numbers().flatMap((pid) => table.read(pid) ?? []);
}

/** Everything that lives and carries the tag. */
export function tagged(value: string): readonly ProcessEntry[] {
  const table = realTable();
  return listProcesses().filter((entry) => table.carries(entry, "MILLRACE_RUN", value));
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
export async function until(holds: () => boolean, ms = 10_000): Promise<void> {
  const end = Date.now() + ms;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`It did not come true within ${ms} ms: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
