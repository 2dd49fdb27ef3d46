import type { ProcessEntry, ProcessTag } from "#domain";

/** The processes of a machine, as far as they can be listed and signalled. A failed listing rejects. */
export interface ProcessTable {
  /** The source: `/proc`, the output of `ps`, or the process query of Windows. */
  readonly source: "proc" | "ps" | "windows";
  /**
   * All living processes except those with these ids. Where each process needs a separate read, the excepted ones are
   * not read.
   */
  list(except?: ReadonlySet<number>): Promise<readonly ProcessEntry[]>;
  /**
   * The processes that were started with exactly this variable. A process whose variables cannot be read is not
   * included.
   */
  tagged(entries: readonly ProcessEntry[], tag: ProcessTag): Promise<readonly ProcessEntry[]>;
  /** Sends a signal to each process, unless its id belongs to another process by now. */
  signal(entries: readonly ProcessEntry[], signal: NodeJS.Signals): Promise<void>;
}

/** Sends a signal by process id. Only for ids that were looked up just before. */
export function sendByNumber(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone since the lookup, or not ours to signal: the next listing shows which.
  }
}
