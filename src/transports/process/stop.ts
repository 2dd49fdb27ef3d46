import type { Clock, ProcessHandle } from "#domain";
import { createProcessTable, type ProcessEntry, type ProcessTable } from "./process-table.ts";
import { type ProcessTag, watchTree } from "./process-tree.ts";

export interface StopOptions {
  readonly clock: Clock;
  /** The variable the process was started with; what carries it is part of the tree, wherever it went. */
  readonly tag?: ProcessTag | undefined;
  /**
   * Do not wait for the process to end by itself: begin with SIGTERM, and wait less. Its input stays open, because one
   * that waits for an answer may take the end of its input for a yes.
   */
  readonly immediate?: boolean;
  /** How long the process may go on after its input has ended; with 0 it is not ended. Default 5000; 0 when `immediate`. */
  readonly stdinGraceMs?: number;
  /** How long it may take to clean up after SIGTERM. Default 5000; 2000 when `immediate`. */
  readonly termGraceMs?: number;
  /** How long to go on killing what does not die. Default 5000. */
  readonly killGraceMs?: number;
  /** Default: this machine's; `undefined` where it has none that can be read. */
  readonly table?: ProcessTable | undefined;
}

/** What it took to stop a process. */
export interface StopReport {
  /** The last thing that was needed. */
  readonly how: "gone" | "end-of-input" | "terminated" | "killed";
  /** The numbers of what could not be ended: the system holds it, or it belongs to another user. */
  readonly survivors: readonly number[];
}

const GRACE_MS = 5000;
const IMMEDIATE_TERM_GRACE_MS = 2000;
/** Looking costs a millisecond or two; most processes are gone at the first or second look. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/**
 * Ends a process and everything it has started: its input ends, then SIGTERM, then SIGKILL, each with a grace.
 *
 * Resolves when nothing of the tree is left, whether or not anybody reads the output; never rejects. Without a table
 * of processes it reaches the process and its group only. Where a process ignores everything but SIGKILL, this takes
 * the sum of the two graces.
 */
export async function stopProcess(handle: ProcessHandle, options: StopOptions): Promise<StopReport> {
  const { clock, tag, immediate = false, killGraceMs = GRACE_MS } = options;
  const termGraceMs = options.termGraceMs ?? (immediate ? IMMEDIATE_TERM_GRACE_MS : GRACE_MS);
  const stdinGraceMs = options.stdinGraceMs ?? (immediate ? 0 : GRACE_MS);
  const life = watchLife(handle);
  // One that is gone already has said so by now.
  await Promise.resolve();
  const table = "table" in options ? options.table : createProcessTable();
  const target = table === undefined ? aimAtHandle(handle, life) : aimAtTree(handle, { life, table, tag });

  if (target.left().length === 0) return { how: "gone", survivors: [] };
  if (stdinGraceMs > 0) {
    handle.endInput();
    if (await waitUntilGone(clock, stdinGraceMs, target, life)) return { how: "end-of-input", survivors: [] };
  }
  target.terminate();
  if (await waitUntilGone(clock, termGraceMs, target, life)) return { how: "terminated", survivors: [] };
  const until = clock.now() + killGraceMs;
  do target.kill();
  while (!(await waitUntilGone(clock, LONGEST_PAUSE_MS, target, life)) && clock.now() < until);
  return { how: "killed", survivors: target.left() };
}

/** What is to be stopped, and the means for it. */
interface Target {
  /** The numbers of what is left. */
  left(): readonly number[];
  terminate(): void;
  kill(): void;
}

/** Whether the process itself is there, which its handle says at once or only when its output has ended as well. */
interface Life {
  isOver(): boolean;
  /** Called once, when the handle says that it is over. */
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
  // A number is looked up only while its process is known to be there; afterwards it may belong to anybody.
  const root = handle.isRunning === true ? handle.pid : undefined;
  const tree = watchTree({ table, root, since: handle.startTicks, tag });
  let hasLooked = false;
  const isOutside = (entries: readonly ProcessEntry[]): boolean =>
    !life.isOver() && !entries.some((entry) => entry.pid === root);
  const send = (entries: readonly ProcessEntry[], signal: "SIGTERM" | "SIGKILL"): void => {
    if (isOutside(entries)) handle.kill(signal);
    for (const entry of entries) table.signal(entry, signal);
  };
  return {
    left() {
      let entries = tree.look();
      // Nothing, says a quick look; before it is believed, everybody is looked at, as at the first look.
      if (entries.length === 0 && life.isOver() && hasLooked) entries = tree.look({ fresh: true });
      hasLooked = true;
      const pids = entries.map((entry) => entry.pid);
      return isOutside(entries) ? [handle.pid ?? 0, ...pids] : pids;
    },
    terminate: () => send(tree.look(), "SIGTERM"),
    kill() {
      // Held still first: what is just being started would otherwise slip through between the look and the kill.
      let entries = tree.look();
      for (let seen = -1; entries.length > seen; entries = tree.look()) {
        seen = entries.length;
        for (const entry of entries) table.signal(entry, "SIGSTOP");
      }
      send(entries, "SIGKILL");
    },
  };
}

/** Where processes cannot be listed: the process itself, and by its handle its group. */
function aimAtHandle(handle: ProcessHandle, life: Life): Target {
  return {
    left: () => (life.isOver() ? [] : [handle.pid ?? 0]),
    terminate: () => handle.kill("SIGTERM"),
    kill: () => handle.kill("SIGKILL"),
  };
}

/** Resolves with whether nothing is left. Looks when the process is over, and now and then besides. */
async function waitUntilGone(clock: Clock, graceMs: number, target: Target, life: Life): Promise<boolean> {
  const until = clock.now() + graceMs;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    const leftMs = Math.max(0, until - clock.now());
    await pause(clock, Math.min(pauseMs, leftMs), life);
    if (target.left().length === 0) return true;
    if (clock.now() >= until) return false;
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

function pause(clock: Clock, ms: number, life: Life): Promise<void> {
  return new Promise((resolve) => {
    // Node runs timers that are due one after the other before it turns to anything else. Several stops at once, each
    // looking longer than it waits, would keep it there, and it would never hear that their processes are gone.
    const takeBack = clock.after(ms, () => setImmediate(resolve));
    life.onOver = () => {
      takeBack();
      resolve();
    };
  });
}
