import { type Clock, describeThrown } from "#domain";
import { createDeferred, type Deferred } from "#streams";
import { isStoreError, StoreError } from "../store-error.ts";
import { type EventRows, type FreshRows, placeFresh } from "./fresh-rows.ts";
import { isBusy } from "./sql-driver.ts";
import type { RowWriter } from "./row-writer.ts";
import type { SqlDatabase } from "./sql-driver.ts";

/** Under load, commits are at least this far apart, and all that came between goes into one. */
const GROUP_MS = 10;

/**
 * Nothing else happens while a commit is under way in this thread. Where commits take long they come less often, so
 * that most of the time is left for those who are served. But nobody waits longer than this.
 */
const LONGEST_GROUP_MS = 50;
const FREE_PART = 4;

/** Another program has locked the database: how often it is tried again, and for how long. Nobody is kept waiting meanwhile. */
export const BUSY = { retryMs: 20, patienceMs: 2000 } as const;

interface Entry {
  readonly work: () => void;
  /** What the work would write, when another thread can do it as well. */
  readonly rows: EventRows | undefined;
  /** The run whose log must be in its place before the work is done. */
  readonly urgent: number | undefined;
  readonly outcome: Deferred<void>;
  refusal: StoreError | undefined;
}

/** What the queue needs of the tables it writes. */
export interface QueueTables {
  readonly database: SqlDatabase;
  readonly fresh: FreshRows;
  /** Whether these rows are stored. */
  has(rows: EventRows): boolean;
  /** A transaction was begun and not committed: what was noted in its course may not have happened. */
  forget(): void;
  /** The thread has died. Told once. */
  onThreadLost(): void;
}

/**
 * Puts writes that come close together into one transaction, because what costs is not writing but making sure that
 * it is on the disk. One transaction at a time: rows of events in their own thread, where there is one, then the rest.
 * When that thread dies, this one does the rest of its work: nothing is lost, and nothing is stored twice.
 *
 * A piece of work checks first and writes afterwards: one that refuses with a `StoreError` has changed nothing and
 * stops nobody else. Anything else that is thrown undoes the whole transaction.
 */
export class CommitQueue {
  private readonly _tables: QueueTables;
  private readonly _clock: Clock;
  private readonly _rowWriter: RowWriter | undefined;
  private _entries: Entry[] = [];
  private _takeBack: (() => void) | undefined;
  private _lastCommit = Number.NEGATIVE_INFINITY;
  private _groupMs = GROUP_MS;
  /** Resolves when what another thread writes is written. */
  private _writing: Promise<void> | undefined;
  private _isLossTold = false;
  /** Since when a lock of another program has kept us from writing. */
  private _busySince: number | undefined;

  constructor(tables: QueueTables, clock: Clock, rowWriter?: RowWriter) {
    this._tables = tables;
    this._clock = clock;
    this._rowWriter = rowWriter;
  }

  /** Does the work in the next transaction. Resolves when it is on the disk. */
  add(work: () => void, { rows, urgent }: Partial<Pick<Entry, "rows" | "urgent">> = {}): Promise<void> {
    const entry: Entry = { work, rows, urgent, outcome: createDeferred<void>(), refusal: undefined };
    this._entries.push(entry);
    this._schedule();
    return entry.outcome.promise;
  }

  /** Whether rows that are added now would be written by another thread. */
  get hasThread(): boolean {
    return this._rowWriter?.isAlive === true;
  }

  /** Resolves when nothing waits any more, and every row is in its place if that can be done. */
  async drain(): Promise<void> {
    while (this._entries.length > 0 || this._writing !== undefined) {
      this._flush();
      await this._writing;
      if (this._busySince !== undefined) await this._pause();
    }
    // What is not put there now is by whoever opens the store next.
    if (this.hasThread) await this._write([], this._tables.fresh.keys()).catch(() => undefined);
  }

  private _pause(): Promise<void> {
    return new Promise((resolve) => {
      this._clock.after(BUSY.retryMs, resolve);
    });
  }

  private _schedule(): void {
    if (this._takeBack !== undefined || this._writing !== undefined || this._entries.length === 0) return;
    if (this._busySince !== undefined) {
      this._takeBack = this._clock.after(BUSY.retryMs, () => this._flush());
      return;
    }
    const wait = Math.min(this._groupMs, Math.max(0, this._lastCommit + this._groupMs - this._clock.now()));
    this._takeBack = this._clock.after(wait, () => this._flush());
  }

  /** Commits what waits. What comes while another thread writes goes into the next group. */
  private _flush(): void {
    if (this._writing !== undefined) return;
    this._takeBack?.();
    this._takeBack = undefined;
    this._tellLoss();
    const entries = this._entries;
    this._entries = [];
    const rows = this.hasThread ? entries.filter((entry) => entry.rows !== undefined) : [];
    const urgent = this._findUrgent(entries);
    if (!this.hasThread || (rows.length === 0 && urgent.length === 0)) return this._commitHere(entries);
    this._writing = this._commitThere(rows, urgent).then((done) => {
      this._writing = undefined;
      this._commitHere(entries.filter((entry) => !done.has(entry)));
      this._schedule();
    });
  }

  private _tellLoss(): void {
    if (this._isLossTold || this._rowWriter === undefined || this.hasThread) return;
    this._isLossTold = true;
    this._tables.onThreadLost();
  }

  /** Entries behind rows that must go to their place first. */
  private _findUrgent(entries: readonly Entry[]): readonly Entry[] {
    const isWritten = new Set(entries.map(({ rows }) => rows?.key));
    return entries.filter(
      ({ urgent }) => urgent !== undefined && (this._tables.fresh.has(urgent) || isWritten.has(urgent)),
    );
  }

  /**
   * Has the thread write rows, and put those into their place that stand before urgent entries. Gives the entries that
   * are done with, for better or worse. Never rejects.
   */
  private async _commitThere(entries: readonly Entry[], urgent: readonly Entry[]): Promise<ReadonlySet<Entry>> {
    const rows = entries.map((entry) => entry.rows as EventRows);
    try {
      const failure = await this._write(rows, new Set(urgent.map((entry) => entry.urgent as number)));
      // What stands behind rows that could not be written cannot be written either.
      const done = failure === undefined ? entries : [...entries, ...urgent];
      this._settle(done, failure);
      return new Set(done);
    } catch {
      // It has died, and it is not known with what: it wrote all of it, or nothing.
      if (!this._takeOver() || rows[0] === undefined || !this._tables.has(rows[0])) return new Set();
      this._settle(entries, undefined);
      return new Set(entries);
    }
  }

  /** Rejects when the thread has died. */
  private async _write(rows: readonly EventRows[], urgent: Iterable<number>): Promise<StoreError | undefined> {
    const { fresh } = this._tables;
    const plan = fresh.plan(rows, urgent);
    const why = await this._rowWriter?.write(plan);
    if (why !== undefined) return this._undone(why);
    fresh.apply(rows, plan);
    return undefined;
  }

  /** Puts into its place what a dead thread has left. `false`: it cannot be done now. */
  private _takeOver(): boolean {
    this._tables.forget();
    try {
      this._placeLeft();
      return true;
    } catch {
      return false;
    }
  }

  private _placeLeft(): void {
    placeFresh(this._tables.database);
    this._tables.fresh.clear();
  }

  private _commitHere(entries: readonly Entry[]): void {
    if (entries.length > 0) {
      const begun = this._clock.now();
      const failure = this._commit(entries);
      if (failure !== undefined && isBusy(failure.cause) && this._isPatient()) {
        // Before what has come since: the order stays.
        this._entries = [...entries, ...this._entries];
        this._schedule();
        return;
      }
      this._busySince = undefined;
      this._groupMs = Math.min(LONGEST_GROUP_MS, Math.max(GROUP_MS, FREE_PART * (this._clock.now() - begun)));
      this._settle(entries, failure);
    }
    this._lastCommit = this._clock.now();
  }

  /** Whether a lock of another program may go on for a while. */
  private _isPatient(): boolean {
    const now = this._clock.now();
    // Never after now: the clock may have been set back meanwhile.
    this._busySince = Math.min(this._busySince ?? now, now);
    return now - this._busySince < BUSY.patienceMs;
  }

  private _settle(entries: readonly Entry[], failure: StoreError | undefined): void {
    for (const { outcome, refusal } of entries) {
      const reason = failure ?? refusal;
      if (reason === undefined) outcome.resolve();
      else outcome.reject(reason);
    }
  }

  private _commit(entries: readonly Entry[]): StoreError | undefined {
    const { database, fresh } = this._tables;
    try {
      if (!this.hasThread && fresh.size > 0) this._placeLeft();
      database.exec("BEGIN IMMEDIATE");
      for (const entry of entries) this._carryOut(entry);
      database.exec("COMMIT");
      return undefined;
    } catch (error) {
      try {
        database.exec("ROLLBACK");
      } catch {
        // There was no transaction: it could not be begun, or the failure has undone it already.
      }
      return this._undone(describeThrown(error), error);
    }
  }

  private _undone(why: string, cause?: unknown): StoreError {
    this._tables.forget();
    return new StoreError("store-failed", `The database did not take it: ${why}`, { cause });
  }

  private _carryOut(entry: Entry): void {
    try {
      entry.work();
    } catch (error) {
      if (!isStoreError(error) || error.code === "store-failed") throw error;
      entry.refusal = error;
    }
  }
}
