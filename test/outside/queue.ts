import {
  type JobsWanted,
  type QueueCounts,
  type QueuedJob,
  QueueError,
  type RunQueue,
  type TakenJob,
} from "millrace/queues/in-process";
import type { VirtualClock } from "millrace/testing";

interface Row {
  readonly runId: string;
  readonly kind: string;
  dueAt: number;
  isHeld: boolean;
  /** When it is to be queued again, if it was added while it was held. */
  again: number | undefined;
}

/** The jobs of all nodes. */
export class JobTable {
  readonly clock: VirtualClock;
  private readonly rows = new Map<string, Row>();
  private readonly waits = new Set<() => void>();

  constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  put(runId: string, kind: string, dueAt: number): void {
    const row = this.rows.get(runId);
    if (row === undefined) this.rows.set(runId, { runId, kind, dueAt, isHeld: false, again: undefined });
    else if (row.isHeld) row.again = Math.min(row.again ?? dueAt, dueAt);
    else row.dueAt = Math.min(row.dueAt, dueAt);
    this.clock.after(Math.max(0, dueAt - this.clock.now()), () => this.look());
  }

  /** Removes the job of a node, and queues it again at this time. */
  remove(row: Row, again: number | undefined): void {
    this.rows.delete(row.runId);
    if (again !== undefined) this.put(row.runId, row.kind, again);
  }

  next(kinds: readonly string[]): Row | undefined {
    const due = [...this.rows.values()].filter((row) => kinds.includes(row.kind) && this.isDue(row));
    return due.sort((left, right) => left.dueAt - right.dueAt)[0];
  }

  count(): QueueCounts {
    const rows = [...this.rows.values()];
    const active = rows.filter(({ isHeld }) => isHeld).length;
    const waiting = rows.filter((row) => this.isDue(row)).length;
    return { waiting, delayed: rows.length - waiting - active, active };
  }

  /** Calls `look` whenever a job may have become due, until it is called back. */
  watch(look: () => void): () => void {
    this.waits.add(look);
    return () => this.waits.delete(look);
  }

  private isDue({ isHeld, dueAt }: Row): boolean {
    return !isHeld && dueAt <= this.clock.now();
  }

  private look(): void {
    for (const look of [...this.waits]) look();
  }
}

/** One node's connection to the table. */
export class TableQueue implements RunQueue {
  private readonly table: JobTable;
  private readonly held = new Set<Row>();
  private readonly waits = new Set<() => void>();
  private isClosed = false;

  constructor(table: JobTable) {
    this.table = table;
  }

  async add({ runId, kind = "any", notBefore = this.table.clock.now() }: QueuedJob): Promise<void> {
    this.requireOpen();
    for (const name of [runId, kind]) requireName(name);
    if (!Number.isFinite(notBefore)) throw new QueueError("invalid-job", `notBefore is ${notBefore}. Give a time.`);
    this.table.put(runId, kind, notBefore);
  }

  async take({ kinds = ["any"], signal }: JobsWanted): Promise<TakenJob | undefined> {
    this.requireOpen();
    for (const kind of kinds) requireName(kind);
    if (signal?.aborted) return undefined;
    return new Promise((resolve) => {
      const end = (job?: TakenJob): void => {
        leave();
        this.waits.delete(stop);
        signal?.removeEventListener("abort", stop);
        resolve(job);
      };
      const stop = (): void => end();
      const look = (): void => {
        const row = this.table.next(kinds);
        if (row !== undefined) end(this.hold(row));
      };
      const leave = this.table.watch(look);
      this.waits.add(stop);
      signal?.addEventListener("abort", stop);
      look();
    });
  }

  async count(): Promise<QueueCounts> {
    this.requireOpen();
    return this.table.count();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const stop of [...this.waits]) stop();
    for (const row of this.held) this.giveBack(row);
    this.held.clear();
  }

  private hold(row: Row): TakenJob {
    row.isHeld = true;
    this.held.add(row);
    const end = async (act: () => void): Promise<boolean> => {
      if (!this.held.delete(row)) return false;
      act();
      return true;
    };
    return {
      runId: row.runId,
      kind: row.kind,
      isHandOver: false,
      // Nodes in one process are always heard of.
      lost: new AbortController().signal,
      extend: async () => this.held.has(row),
      finish: () => end(() => this.table.remove(row, row.again)),
      giveBack: () => end(() => this.giveBack(row)),
    };
  }

  private giveBack(row: Row): void {
    this.table.remove(row, this.table.clock.now());
  }

  private requireOpen(): void {
    if (this.isClosed) throw new QueueError("queue-closed", "The queue is closed.");
  }
}

function requireName(name: unknown): void {
  if (typeof name !== "string" || !/^[\w-]{1,64}$/.test(name)) {
    throw new QueueError("invalid-job", `${JSON.stringify(name)} is not a name.`);
  }
}
