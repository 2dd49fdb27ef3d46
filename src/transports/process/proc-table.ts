import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import type { ProcessEntry } from "#domain";
import { type ProcessTable, sendByNumber } from "./process-table.ts";

const USUAL_ENVIRONMENT_BYTES = 65_536;
const MAX_ENVIRONMENT_BYTES = 4_194_304;

/**
 * The processes of a Linux machine, read from `/proc`.
 *
 * Reads synchronously: through the thread pool, the same reads take several times as long, and the state changes
 * between them. Each read costs up to a tenth of a millisecond, so listing all processes often is expensive.
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

/** The process with this id; `undefined` when there is no living one. */
export function readProcEntry(pid: number): ProcessEntry | undefined {
  let text: string;
  try {
    // As UTF-8, because Node.js then opens, reads and closes in one call. The name may be no UTF-8; the numbers are ASCII.
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  return parseStat(pid, text);
}

/** `pid (name) state parent group session …`; the name may contain anything, including brackets and spaces. */
function parseStat(pid: number, text: string): ProcessEntry | undefined {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  const [parent, group, session, startTicks] = [fields[1], fields[2], fields[3], fields[19]].map(Number);
  if (state === "Z" || state === "X" || !Number.isSafeInteger(parent) || !Number.isSafeInteger(startTicks)) {
    return undefined;
  }
  return { pid, parent: parent as number, startTicks: startTicks as number, group, session };
}

/** Reads into `usual`, a buffer that is reused for every process, if the environment fits. */
function readEnvironment(pid: number, usual: Uint8Array): Uint8Array {
  let bytes = usual;
  for (;;) {
    const length = readInto(`/proc/${pid}/environ`, bytes);
    if (length < bytes.length || bytes.length >= MAX_ENVIRONMENT_BYTES) return bytes.subarray(0, length);
    bytes = new Uint8Array(bytes.length * 4);
  }
}

/** The number of bytes read; 0 when the file is gone or may not be read. */
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

/** Whether one of the NUL-terminated variables is exactly this one. */
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
