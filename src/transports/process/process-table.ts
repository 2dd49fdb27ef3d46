import type { ProcessEntry, ProcessTag } from "#domain";

/** The processes of a machine, as far as one can see and signal them. A look that fails rejects. */
export interface ProcessTable {
  /** Where it reads: `/proc`, the output of `ps`, or the process query of Windows. */
  readonly source: "proc" | "ps" | "windows";
  /** Every process that lives, apart from those numbers. Where each process is a read of its own, they are not read. */
  list(except?: ReadonlySet<number>): Promise<readonly ProcessEntry[]>;
  /** Those that were started with exactly this variable. One whose variables cannot be read was not. */
  tagged(entries: readonly ProcessEntry[], tag: ProcessTag): Promise<readonly ProcessEntry[]>;
  /** Sends a signal to each, unless its number belongs to somebody else by now. */
  signal(entries: readonly ProcessEntry[], signal: NodeJS.Signals): Promise<void>;
}

/** Sends a signal by number. For numbers that were just looked up. */
export function sendByNumber(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone between the look and the signal, or not ours to signal: the next look at the table shows which.
  }
}
