import { type Clock, describeThrown } from "#domain";
import { createDeferred, type Deferred } from "#streams";
import { isStoreError, StoreError } from "../store-error.ts";
import type { SqlDatabase } from "./sql-driver.ts";

/** Under load, commits are at least this far apart, and all that came between goes into one. */
const GROUP_MS = 10;

/**
 * Nothing else happens while a commit is under way. Where commits take long, or come late because the process has more
 * to do than it can, they come less often: most of the time is left for those who are served, and what a run has said
 * meanwhile is one write instead of several. But nobody waits longer than this.
 */
const LONGEST_GROUP_MS = 100;
const FREE_PART = 4;

interface Entry {
  readonly work: () => void;
  readonly outcome: Deferred<void>;
  refusal: StoreError | undefined;
}

/**
 * Puts writes that come close together into one transaction, because what costs is not writing but making sure that
 * it is on the disk.
 *
 * A piece of work checks first and writes afterwards: one that refuses with a `StoreError` has changed nothing and
 * stops nobody else. Anything else that is thrown undoes the whole group.
 */
export class CommitQueue {
  private readonly _database: SqlDatabase;
  private readonly _clock: Clock;
  private _entries: Entry[] = [];
  private _takeBack: (() => void) | undefined;
  private readonly _onUndone: () => void;
  private _dueAt = 0;
  private _lastCommit = Number.NEGATIVE_INFINITY;
  private _groupMs = GROUP_MS;

  /** `onUndone` hears of every transaction that was begun and not committed. */
  constructor(database: SqlDatabase, clock: Clock, onUndone: () => void) {
    this._database = database;
    this._clock = clock;
    this._onUndone = onUndone;
  }

  /** Does the work in the next transaction. Resolves when it is on the disk. */
  add(work: () => void): Promise<void> {
    const entry: Entry = { work, outcome: createDeferred<void>(), refusal: undefined };
    this._entries.push(entry);
    if (this._takeBack === undefined) {
      const now = this._clock.now();
      const wait = Math.min(this._groupMs, Math.max(0, this._lastCommit + this._groupMs - now));
      this._dueAt = now + wait;
      this._takeBack = this._clock.after(wait, () => this.flush());
    }
    return entry.outcome.promise;
  }

  /** Does the work, and whatever waits, before it returns. */
  addNow(work: () => void): Promise<void> {
    const outcome = this.add(work);
    this.flush();
    return outcome;
  }

  /** Commits what waits. */
  flush(): void {
    this._takeBack?.();
    this._takeBack = undefined;
    const entries = this._entries;
    this._entries = [];
    if (entries.length === 0) return;
    const dueAt = Math.min(this._dueAt, this._clock.now());
    const failure = this._commit(entries);
    this._lastCommit = this._clock.now();
    this._groupMs = Math.min(LONGEST_GROUP_MS, Math.max(GROUP_MS, FREE_PART * (this._lastCommit - dueAt)));
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
      this._onUndone();
      return new StoreError("store-failed", `The database did not take it: ${describeThrown(error)}`, { cause: error });
    }
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
