import { closeSync, openSync, readdirSync, readSync } from "node:fs";

/** One living process. The pair of number and start names it for ever; the number alone does not. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** When it started, in ticks since the machine did. */
  readonly startTicks: number;
}

/** The processes of a machine, as far as one can see and signal them. */
export interface ProcessTable {
  /** The numbers of all processes, dead ones that nobody has collected among them. Cheap, as `read` is not. */
  numbers(): readonly number[];
  /** The process with this number; `undefined` when there is none that lives. */
  read(pid: number): ProcessEntry | undefined;
  /** Whether the process was started with exactly this variable. One that cannot be asked was not. */
  carries(entry: ProcessEntry, name: string, value: string): boolean;
  /** Sends a signal, unless the number belongs to somebody else by now. */
  signal(entry: ProcessEntry, signal: NodeJS.Signals): void;
}

const STAT_BYTES = 4096;
const USUAL_ENVIRONMENT_BYTES = 65_536;
const MAX_ENVIRONMENT_BYTES = 4_194_304;

/**
 * The processes of this machine by `/proc`; `undefined` where there is none (macOS, Windows).
 *
 * Synchronous: through the thread pool the same reads take several times as long, and between two of them the picture
 * changes. Each costs up to a tenth of a millisecond, so that nobody should read all processes often.
 */
export function createProcessTable(): ProcessTable | undefined {
  if (process.platform !== "linux") return undefined;
  const buffer = new Uint8Array(STAT_BYTES);
  let variables: Uint8Array | undefined;
  const decoder = new TextDecoder("latin1");

  const look = (pid: number): ProcessEntry | undefined => {
    const length = readInto(`/proc/${pid}/stat`, buffer);
    return length === 0 ? undefined : parseStat(pid, decoder.decode(buffer.subarray(0, length)));
  };

  return {
    numbers: () => readdirSync("/proc").map(Number).filter(Number.isSafeInteger),
    read: look,
    carries(entry, name, value) {
      variables ??= new Uint8Array(USUAL_ENVIRONMENT_BYTES);
      return holdsVariable(readEnvironment(entry.pid, variables), `${name}=${value}`);
    },
    signal(entry, signal) {
      if (look(entry.pid)?.startTicks !== entry.startTicks) return;
      try {
        process.kill(entry.pid, signal);
      } catch {
        // Gone between the look and the signal, or not ours to signal: the next look at the table tells which.
      }
    },
  };
}

/** `pid (name) state parent …`; the name may hold anything, brackets and blanks included. */
function parseStat(pid: number, text: string): ProcessEntry | undefined {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  const parent = Number(fields[1]);
  const startTicks = Number(fields[19]);
  if (state === "Z" || state === "X" || !Number.isSafeInteger(parent) || !Number.isSafeInteger(startTicks)) {
    return undefined;
  }
  return { pid, parent, startTicks };
}

/** What fits is read into `usual`, which is used for every process. */
function readEnvironment(pid: number, usual: Uint8Array): Uint8Array {
  let bytes = usual;
  for (;;) {
    const length = readInto(`/proc/${pid}/environ`, bytes);
    if (length < bytes.length || bytes.length >= MAX_ENVIRONMENT_BYTES) return bytes.subarray(0, length);
    bytes = new Uint8Array(bytes.length * 4);
  }
}

/** How many bytes there were; none when the file is gone or not for us. */
function readInto(path: string, bytes: Uint8Array): number {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return 0;
  }
  try {
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(file, bytes, length, bytes.length - length, null);
      if (read === 0) break;
      length += read;
    }
    return length;
  } catch {
    return 0;
  } finally {
    closeSync(file);
  }
}

/** Whether one of the variables, which end in a NUL each, is exactly this one. */
function holdsVariable(environment: Uint8Array, variable: string): boolean {
  const wanted = new TextEncoder().encode(variable);
  let start = 0;
  while (start < environment.length) {
    const end = environment.indexOf(0, start);
    const stop = end === -1 ? environment.length : end;
    if (stop - start === wanted.length && wanted.every((byte, index) => environment[start + index] === byte))
      return true;
    start = stop + 1;
  }
  return false;
}
