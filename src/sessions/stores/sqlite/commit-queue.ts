import { type Clock, describeThrown } from "#domain";
import { createDeferred, type Deferred } from "#streams";
import { isStoreError, StoreError } from "../store-error.ts";
import type { EventRows, RowWriter } from "./row-writer.ts";
import type { SqlDatabase } from "./sql-driver.ts";

/** Under load, commits are at least this far apart, and all that came between goes into one. */
const GROUP_MS = 10;

/**
 * Nothing else happens while a commit is under way in this thread. Where commits take long they come less often, so
 * that most of the time is left for those who are served. But nobody waits longer than this.
 */
const LONGEST_GROUP_MS = 50;
const FREE_PART = 4;

interface Entry {
  readonly work: () => void;
  /** What the work would write, when another thread can do it as well. */
  readonly rows: EventRows | undefined;
  readonly outcome: Deferred<void>;
  refusal: StoreError | undefined;
}

/**
 * Puts writes that come close together into one transaction, because what costs is not writing but making sure that
 * it is on the disk. One transaction at a time: rows of events in their own thread, where there is one, then the rest.
 *
 * A piece of work checks first and writes afterwards: one that refuses with a `StoreError` has changed nothing and
 * stops nobody else. Anything else that is thrown undoes the whole transaction.
 */
export class CommitQueue {
  private readonly _database: SqlDatabase;
  private readonly _clock: Clock;
  private readonly _rowWriter: RowWriter | undefined;
  private readonly _onUndone: () => void;
  private _entries: Entry[] = [];
  private _takeBack: (() => void) | undefined;
  private _lastCommit = Number.NEGATIVE_INFINITY;
  private _groupMs = GROUP_MS;
  /** Resolves when what another thread writes is written. */
  private _writing: Promise<void> | undefined;

  /** `onUndone` hears of every transaction that was begun and not committed. */
  constructor(database: SqlDatabase, clock: Clock, onUndone: () => void, rowWriter?: RowWriter) {
    this._database = database;
    this._clock = clock;
    this._onUndone = onUndone;
    this._rowWriter = rowWriter;
  }

  /** Does the work in the next transaction. Resolves when it is on the disk. */
  add(work: () => void, rows?: EventRows): Promise<void> {
    const entry: Entry = { work, rows, outcome: createDeferred<void>(), refusal: undefined };
    this._entries.push(entry);
    this._schedule();
    return entry.outcome.promise;
  }

  /** Whether rows that are added now would be written by another thread. */
  get hasThread(): boolean {
    return this._rowWriter?.isAlive === true;
  }

  /** Resolves when nothing waits any more. */
  async drain(): Promise<void> {
    while (this._entries.length > 0 || this._writing !== undefined) {
      this._flush();
      await this._writing;
    }
  }

  private _schedule(): void {
    if (this._takeBack !== undefined || this._writing !== undefined || this._entries.length === 0) return;
    const wait = Math.min(this._groupMs, Math.max(0, this._lastCommit + this._groupMs - this._clock.now()));
    this._takeBack = this._clock.after(wait, () => this._flush());
  }

  /** Commits what waits. What comes while another thread writes goes into the next group. */
  private _flush(): void {
    if (this._writing !== undefined) return;
    this._takeBack?.();
    this._takeBack = undefined;
    const entries = this._entries;
    this._entries = [];
    const rows = this.hasThread ? entries.filter((entry) => entry.rows !== undefined) : [];
    if (rows.length === 0) return this._commitHere(entries);
    this._writing = this._commitThere(rows).then((isWritten) => {
      this._writing = undefined;
      this._commitHere(isWritten ? entries.filter((entry) => entry.rows === undefined) : entries);
      this._schedule();
    });
  }

  /** `false`: the thread has died, and it is not known with what. Never rejects. */
  private async _commitThere(entries: readonly Entry[]): Promise<boolean> {
    try {
      const failure = await this._rowWriter?.write(entries.map(({ rows }) => rows as EventRows));
      this._settle(entries, failure === undefined ? undefined : this._undone(failure));
      return true;
    } catch {
      this._onUndone();
      return false;
    }
  }

  private _commitHere(entries: readonly Entry[]): void {
    if (entries.length > 0) {
      const begun = this._clock.now();
      const failure = this._commit(entries);
      this._groupMs = Math.min(LONGEST_GROUP_MS, Math.max(GROUP_MS, FREE_PART * (this._clock.now() - begun)));
      this._settle(entries, failure);
    }
    this._lastCommit = this._clock.now();
  }

  private _settle(entries: readonly Entry[], failure: StoreError | undefined): void {
    for (const { outcome, refusal } of entries) {
      const reason = failure ?? refusal;
      if (reason === undefined) outcome.resolve();
      else outcome.reject(reason);
    }
  }

  private _commit(entries: readonly Entry[]): StoreError | undefined {
    try {
      this._database.exec("BEGIN IMMEDIATE");
      for (const entry of entries) this._carryOut(entry);
      this._database.exec("COMMIT");
      return undefined;
    } catch (error) {
      try {
        this._database.exec("ROLLBACK");
      } catch {
        // There was no transaction: it could not be begun, or the failure has undone it already.
      }
      return this._undone(describeThrown(error), error);
    }
  }

  private _undone(why: string, cause?: unknown): StoreError {
    this._onUndone();
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
