// The measuring functions of the benchmark's processes.
import { readFileSync } from "node:fs";

/** The peak since exec, in MB; the value of getrusage may be the parent's. */
export const peakRss = () =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? 0) / 1024;

/** The CPU time of this process (user and system) since `before`, in ms; without it, since its start. */
export function cpuSince(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

export function median(values) {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Prints the result of a process under test, and exits. */
export function finish(sample) {
  console.log(JSON.stringify({ ...sample, rssMb: peakRss() }));
  process.exit(0);
}
