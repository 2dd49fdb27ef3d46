import type { Clock, ProcessEntry, ProcessHandle, ProcessTag } from "#domain";
import type { ProcessTable } from "./process-table.ts";
import { type ProcessTree, watchTree } from "./process-tree.ts";
import { createProcessTable } from "./system-process-table.ts";

export interface StopOptions {
  readonly clock: Clock;
  /**
   * The variable the process was started with; every process that carries it is part of the tree, whatever its parent.
   */
  readonly tag?: ProcessTag | undefined;
  /**
   * Do not wait for the process to end by itself: begin with SIGTERM, and use shorter grace periods. Its input stays
   * open, because a process that waits for an answer may treat the end of its input as a yes.
   */
  readonly immediate?: boolean;
  /**
   * How long the process may go on after its input was closed; with 0 the input is not closed. Default 5000; 0 when
   * `immediate`.
   */
  readonly stdinGraceMs?: number;
  /** How long it may clean up after SIGTERM. Default 5000; 2000 when `immediate`. */
  readonly termGraceMs?: number;
  /** How long to go on killing processes that do not die. Default 5000. */
  readonly killGraceMs?: number;
  /** Default: that of this machine; `undefined` where it cannot be read. */
  readonly table?: ProcessTable | undefined;
}

/** What was needed to stop a process. */
export interface StopReport {
  /** The last step that was needed. */
  readonly how: "gone" | "end-of-input" | "terminated" | "killed";
  /** The ids of processes that could not be ended: the system holds them, or they belong to another user. */
  readonly survivors: readonly number[];
}

const GRACE_MS = 5000;
const IMMEDIATE_TERM_GRACE_MS = 2000;
/** A check costs a millisecond or two; most processes are gone at the first or second check. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/**
 * Ends a process and everything it has started: its input is closed, then SIGTERM, then SIGKILL, each with a grace
 * period. On Windows, which has no signals, the second step ends everything at once.
 *
 * Resolves when nothing of the tree is left, even if its output is not read; never rejects. Without a process table,
 * only the process and its group are reached. If a process ignores everything but SIGKILL, this takes the sum of the
 * two grace periods.
 */
export async function stopProcess(handle: ProcessHandle, options: StopOptions): Promise<StopReport> {
  const life = watchLife(handle);
  // A process that is already gone has reported it by now.
  await Promise.resolve();
  const table = "table" in options ? options.table : createProcessTable();
  const target = table === undefined ? aimAtHandle(handle, life) : aimAtTree(handle, { life, table, tag: options.tag });
  try {
    return await stopInSteps(handle, { ...options, target, life });
  } finally {
    handle.family?.close();
  }
}

interface StopRequest extends StopOptions {
  readonly target: Target;
  readonly life: Life;
}

async function stopInSteps(handle: ProcessHandle, options: StopRequest): Promise<StopReport> {
  const { clock, immediate = false, killGraceMs = GRACE_MS, target, life } = options;
  const termGraceMs = options.termGraceMs ?? (immediate ? IMMEDIATE_TERM_GRACE_MS : GRACE_MS);
  const stdinGraceMs = options.stdinGraceMs ?? (immediate ? 0 : GRACE_MS);
  if ((await target.left()).length === 0) return { how: "gone", survivors: [] };
  if (stdinGraceMs > 0) {
    handle.endInput();
    if (await waitUntilGone(clock, stdinGraceMs, target, life)) return { how: "end-of-input", survivors: [] };
  }
  await target.terminate();
  if (await waitUntilGone(clock, termGraceMs, target, life)) return { how: "terminated", survivors: [] };
  const grace = startGrace(clock, killGraceMs);
  do await target.kill();
  while (!(await waitUntilGone(clock, LONGEST_PAUSE_MS, target, life)) && !grace.isOver());
  grace.end();
  return { how: "killed", survivors: await target.left() };
}

/** What is to be stopped, and how. Nothing rejects. */
interface Target {
  /** The ids of the processes that are left. */
  left(): Promise<readonly number[]>;
  terminate(): Promise<void>;
  kill(): Promise<void>;
}

/** Whether the process itself is alive. Its handle reports this at once, or only when its output has ended as well. */
interface Life {
  isOver(): boolean;
  /** Called once, when the handle reports the end. */
  onOver: () => void;
}

function watchLife(handle: ProcessHandle): Life {
  let over = false;
  const life: Life = {
    isOver: () => over || handle.isRunning === false,
    onOver: () => undefined,
  };
  const note = (): void => {
    over = true;
    life.onOver();
  };
  handle.exit.then(note, note);
  return life;
}

function aimAtTree(
  handle: ProcessHandle,
  { life, table, tag }: { readonly life: Life; readonly table: ProcessTable; readonly tag: ProcessTag | undefined },
): Target {
  // An id is looked up only while its process is known to be alive; afterwards it may belong to any process.
  const root = handle.isRunning === true ? handle.pid : undefined;
  const tree = handle.family ?? watchTree({ table, root, since: handle.startTicks, tag });
  const alone = aimAtHandle(handle, life);
  let hasLooked = false;
  const isOutside = (entries: readonly ProcessEntry[]): boolean =>
    !life.isOver() && !entries.some((entry) => entry.pid === handle.pid);
  const send = async (entries: readonly ProcessEntry[], signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
    if (isOutside(entries)) handle.kill(signal);
    await table.signal(entries, signal);
  };
  return {
    async left() {
      try {
        let entries = await tree.look();
        // Before an empty result of a quick check is trusted, all processes are checked again, as the first time.
        if (entries.length === 0 && life.isOver() && hasLooked) entries = await tree.look({ fresh: true });
        hasLooked = true;
        const pids = entries.map((entry) => entry.pid);
        return isOutside(entries) ? [handle.pid ?? 0, ...pids] : pids;
      } catch {
        return alone.left();
      }
    },
    async terminate() {
      try {
        await send(await tree.look(), "SIGTERM");
      } catch {
        // The processes cannot be listed now, but the process and its group can still be reached.
        await alone.terminate();
      }
    },
    async kill() {
      try {
        handle.family?.killAtOnce();
        await send(await holdStill(tree, table), "SIGKILL");
      } catch {
        await alone.kill();
      }
    },
  };
}

/**
 * Sends SIGSTOP to all processes, because a process that is just being started would otherwise be missed between the
 * listing and the kill.
 */
async function holdStill(tree: ProcessTree, table: ProcessTable): Promise<readonly ProcessEntry[]> {
  let entries = await tree.look();
  for (let seen = -1; entries.length > seen; entries = await tree.look()) {
    seen = entries.length;
    await table.signal(entries, "SIGSTOP");
  }
  return entries;
}

/** For systems without a process table: the process itself, and by its handle its group. */
function aimAtHandle(handle: ProcessHandle, life: Life): Target {
  return {
    left: async () => (life.isOver() ? [] : [handle.pid ?? 0]),
    terminate: async () => handle.kill("SIGTERM"),
    kill: async () => handle.kill("SIGKILL"),
  };
}

/** A grace period. Measured with a timer, because the system clock may be changed meanwhile. */
interface Grace {
  isOver(): boolean;
  /** Called once, when it is over. */
  onOver: () => void;
  /** Cancels it. */
  end(): void;
}

function startGrace(clock: Clock, ms: number): Grace {
  let over = false;
  const grace: Grace = {
    isOver: () => over,
    onOver: () => undefined,
    end: clock.after(ms, () => {
      over = true;
      grace.onOver();
    }),
  };
  return grace;
}

/** Resolves with whether nothing is left. Checks when the process ends, and periodically. */
async function waitUntilGone(clock: Clock, graceMs: number, target: Target, life: Life): Promise<boolean> {
  const grace = startGrace(clock, graceMs);
  let pauseMs = FIRST_PAUSE_MS;
  // It may have ended while the signal was being sent, in which case `onOver` is not called again.
  let mayBeGone = life.isOver();
  try {
    for (;;) {
      if (!mayBeGone) await pause(clock, pauseMs, { life, grace });
      mayBeGone = false;
      if ((await target.left()).length === 0) return true;
      if (grace.isOver()) return false;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  } finally {
    grace.end();
  }
}

function pause(clock: Clock, ms: number, until: { readonly life: Life; readonly grace: Grace }): Promise<void> {
  const { life, grace } = until;
  return new Promise((resolve) => {
    // Node runs all due timers before it does anything else. Several simultaneous stops, each checking longer than it
    // waits, would keep it there, and it would never process the exits of their processes.
    const takeBack = clock.after(ms, () => setImmediate(resolve));
    life.onOver = () => {
      takeBack();
      resolve();
    };
    grace.onOver = () => {
      takeBack();
      setImmediate(resolve);
    };
  });
}
