import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import type { ProcessEntry } from "#domain";
import { type ProcessTable, sendByNumber } from "./process-table.ts";

const STAT_BYTES = 4096;
const USUAL_ENVIRONMENT_BYTES = 65_536;
const MAX_ENVIRONMENT_BYTES = 4_194_304;

/**
 * The processes of a Linux machine by `/proc`.
 *
 * Reads synchronously: through the thread pool the same reads take several times as long, and between two of them the
 * picture changes. Each costs up to a tenth of a millisecond, so that nobody should read all processes often.
 */
export function createProcTable(): ProcessTable {
  let variables: Uint8Array | undefined;
  return {
    source: "proc",
    async list(except) {
      const entries: ProcessEntry[] = [];
      for (const name of readdirSync("/proc")) {
        const pid = Number(name);
        if (!Number.isSafeInteger(pid) || except?.has(pid) === true) continue;
        const entry = readProcEntry(pid);
        if (entry !== undefined) entries.push(entry);
      }
      return entries;
    },
    async tagged(entries, { name, value }) {
      const usual = (variables ??= new Uint8Array(USUAL_ENVIRONMENT_BYTES));
      return entries.filter(({ pid }) => holdsVariable(readEnvironment(pid, usual), `${name}=${value}`));
    },
    async signal(entries, signal) {
      for (const { pid, startTicks } of entries) {
        if (readProcEntry(pid)?.startTicks === startTicks) sendByNumber(pid, signal);
      }
    },
  };
}

/** The process with this number; `undefined` when there is none that lives. */
export function readProcEntry(pid: number): ProcessEntry | undefined {
  const buffer = new Uint8Array(STAT_BYTES);
  const length = readInto(`/proc/${pid}/stat`, buffer);
  return length === 0 ? undefined : parseStat(pid, new TextDecoder("latin1").decode(buffer.subarray(0, length)));
}

/** `pid (name) state parent group session …`; the name may hold anything, brackets and blanks included. */
function parseStat(pid: number, text: string): ProcessEntry | undefined {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  const [parent, group, session, startTicks] = [fields[1], fields[2], fields[3], fields[19]].map(Number);
  if (state === "Z" || state === "X" || !Number.isSafeInteger(parent) || !Number.isSafeInteger(startTicks)) {
    return undefined;
  }
  return { pid, parent: parent as number, startTicks: startTicks as number, group, session };
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
