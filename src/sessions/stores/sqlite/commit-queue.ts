import type { Clock } from "#domain";
import { createDeferred, type Deferred } from "#streams";
import { StoreError } from "../store-error.ts";
import type { CommitAnswer, CommitQuestion, RowsToWrite, WorkReply, WorkStep } from "./worker/requests.ts";
import type { EngineHost } from "./engine-host.ts";
import type { EventRows, StagingPlan, StagedRows } from "./staged-rows.ts";

/** Under load, commits are at least this far apart, and everything in between goes into one. */
const GROUP_MS = 10;

/**
 * Without a worker, nothing else happens during a commit. If commits take long they become less frequent, so that most
 * of the time is left for other work. But no write waits longer than this.
 */
const LONGEST_GROUP_MS = 50;
const FREE_PART = 4;

/** Another program has locked the database: how often and for how long to retry. Other work goes on meanwhile. */
export const BUSY = { retryMs: 20, patienceMs: 2000 } as const;

/** A write. */
export interface Write {
  /** Rows of a log that change nothing else. */
  readonly rows?: EventRows;
  readonly work?: readonly WorkStep[];
  /**
   * The run whose log is written: its staged rows are moved before the work, and if this write fails, so do later ones
   * of the run.
   */
  readonly run?: number;
  /** Called when it could not be written, before anything else happens. */
  readonly onFailure?: () => void;
}

interface Entry extends Write {
  readonly outcome: Deferred<WorkReply>;
}

const NO_REPLY: WorkReply = { rows: [] };

/**
 * Combines writes that come close together into one transaction, because the cost is not in writing but in syncing to
 * disk. One transaction at a time.
 *
 * Work checks first and writes afterwards: work that is refused has changed nothing and does not affect other work. Any
 * failure rolls back the whole transaction.
 */
export class CommitQueue {
  private readonly _host: EngineHost;
  private readonly _staged: StagedRows;
  private readonly _clock: Clock;
  /** The number of the last transaction. */
  private _group: number;
  private _entries: Entry[] = [];
  private _takeBack: (() => void) | undefined;
  private _lastCommit = Number.NEGATIVE_INFINITY;
  private _groupMs = GROUP_MS;
  /** Resolves when the current transaction has ended. */
  private _writing: Promise<void> | undefined;
  /** Since when a lock of another program has blocked writes. */
  private _busySince: number | undefined;

  constructor(host: EngineHost, staged: StagedRows, clock: Clock, group: number) {
    this._host = host;
    this._staged = staged;
    this._clock = clock;
    this._group = group;
  }

  /** Writes it in the next transaction. Resolves when it is on disk, or when a check has refused it. */
  add(write: Write): Promise<WorkReply> {
    const entry: Entry = { ...write, outcome: createDeferred<WorkReply>() };
    this._entries.push(entry);
    this._schedule();
    return entry.outcome.promise;
  }

  /** Resolves when nothing waits any more and, if possible, every staged row has been moved. */
  async drain(): Promise<void> {
    while (this._entries.length > 0 || this._writing !== undefined) {
      this._flush();
      await this._writing;
      if (this._busySince !== undefined) await this._pause();
    }
    // Anything left over is moved when the store is opened next.
    if (this._staged.size > 0) await this._commit([], this._staged.keys());
  }

  private _pause(): Promise<void> {
    return new Promise((resolve) => {
      this._clock.after(BUSY.retryMs, resolve);
    });
  }

  private _schedule(): void {
    if (this._takeBack !== undefined || this._writing !== undefined || this._entries.length === 0) return;
    const wait =
      this._busySince === undefined
        ? Math.min(this._groupMs, Math.max(0, this._lastCommit + this._groupMs - this._clock.now()))
        : BUSY.retryMs;
    this._takeBack = this._clock.after(wait, () => this._flush());
  }

  /** Commits what waits. Writes that arrive meanwhile go into the next transaction. */
  private _flush(): void {
    if (this._writing !== undefined || this._entries.length === 0) return;
    this._takeBack?.();
    this._takeBack = undefined;
    const entries = this._entries;
    this._entries = [];
    this._writing = this._write(entries).then(() => {
      this._writing = undefined;
      this._schedule();
    });
  }

  /** Never rejects. */
  private async _write(entries: readonly Entry[]): Promise<void> {
    const begun = this._clock.now();
    const answer = await this._commit(entries, findUrgent(entries, this._staged));
    if (answer.failure === undefined) {
      this._busySince = undefined;
      settle(entries, answer.replies);
    } else if (answer.isBusy && this._isPatient()) {
      // Before the writes that arrived since, to keep the order.
      this._entries = [...entries, ...this._entries];
      return;
    } else {
      this._busySince = undefined;
      this._fail(entries, answer.failure);
    }
    this._lastCommit = this._clock.now();
    if (!this._host.hasWorker) {
      this._groupMs = Math.min(LONGEST_GROUP_MS, Math.max(GROUP_MS, FREE_PART * (this._lastCommit - begun)));
    }
  }

  private async _commit(entries: readonly Entry[], urgent: Iterable<number>): Promise<CommitAnswer> {
    const rows: EventRows[] = [];
    const work: (readonly WorkStep[])[] = [];
    for (const entry of entries) {
      if (entry.rows !== undefined) rows.push(entry.rows);
      if (entry.work !== undefined) work.push(entry.work);
    }
    const plan = this._staged.plan(rows, urgent);
    this._group += 1;
    const question: CommitQuestion = { kind: "commit", group: this._group, rows: rowsOf(plan), work };
    const answer = (await this._host.ask(question)) as CommitAnswer;
    if (answer.failure === undefined) this._staged.apply(rows, plan);
    return answer;
  }

  /** Whether to keep waiting for the lock of another program. */
  private _isPatient(): boolean {
    const now = this._clock.now();
    // Never later than now, because the clock may have been set back meanwhile.
    this._busySince = Math.min(this._busySince ?? now, now);
    return now - this._busySince < BUSY.patienceMs;
  }

  /** Writes that follow failed rows of the same run fail too. */
  private _fail(entries: readonly Entry[], why: string): void {
    const failed = new Set(entries.map(({ run }) => run).filter((run) => run !== undefined));
    const isBehind = ({ run }: Entry): boolean => run !== undefined && failed.has(run);
    const waiting = this._entries.filter(isBehind);
    this._entries = this._entries.filter((entry) => !isBehind(entry));
    const failure = new StoreError("store-failed", `The database rejected the write: ${why}`);
    for (const { onFailure } of [...entries, ...waiting]) onFailure?.();
    for (const { outcome } of [...entries, ...waiting]) outcome.reject(failure);
  }
}

/** The runs whose staged rows must be moved now, because something is written after them. */
function findUrgent(entries: readonly Entry[], staged: StagedRows): ReadonlySet<number> {
  const written = new Set(entries.map(({ rows }) => rows?.key));
  const urgent = new Set<number>();
  for (const { work, run } of entries) {
    if (work !== undefined && run !== undefined && (staged.has(run) || written.has(run))) urgent.add(run);
  }
  return urgent;
}

function settle(entries: readonly Entry[], replies: readonly WorkReply[]): void {
  let next = 0;
  for (const { work, outcome } of entries) {
    outcome.resolve(work === undefined ? NO_REPLY : (replies[next] as WorkReply));
    if (work !== undefined) next += 1;
  }
}

function rowsOf({ entry, placed, dropTo }: StagingPlan): RowsToWrite | undefined {
  if (entry === undefined && placed.length === 0 && dropTo === undefined) return undefined;
  const keys: number[] = [];
  const seqs: number[] = [];
  const bodies: string[] = [];
  for (const rows of placed) {
    for (let at = 0; at < rows.seqs.length; at += 1) {
      keys.push(rows.key);
      seqs.push(rows.seqs[at] as number);
      bodies.push(rows.bodies[at] as string);
    }
  }
  return { keys, seqs, bodies: bodies.join("\n"), entry, dropTo };
}
