import type { StoredRun } from "../store.ts";
import { findRun, requireRunRow, type Tables } from "./reads.ts";
import type { RunRow } from "./rows.ts";

/**
 * Where the logs of the runs under way end, so that an append needs not ask the database. That is safe because one
 * program at a time has the folder. It says what the current transaction says: whoever undoes one must `forget`.
 */
export class OpenRuns {
  private readonly _tables: Tables;
  private readonly _rows = new Map<string, RunRow>();
  private readonly _held = new Map<string, number>();

  constructor(tables: Tables) {
    this._tables = tables;
  }

  /** @throws StoreError `unknown-run`. */
  require(runId: string): RunRow {
    return this._rows.get(runId) ?? requireRunRow(this._tables, runId);
  }

  /** The run's key; `undefined` when there is no such run. */
  keyOf(runId: string): number | undefined {
    return (this._rows.get(runId) ?? findRun(this._tables, runId))?.key;
  }

  /** The log of a run has grown; one that is over is not kept. */
  note({ key, run }: RunRow, end: Pick<StoredRun, "lastSeq" | "isOver">): void {
    if (end.isOver) this._rows.delete(run.id);
    else this._rows.set(run.id, { key, run: { ...run, ...end } });
  }

  /** Whether something that may change the run waits for its transaction: what follows must wait behind it. */
  isHeld(runId: string): boolean {
    return this._held.has(runId);
  }

  /** Holds a run until the outcome is known, which is passed on. */
  async hold(runId: string, outcome: Promise<void>): Promise<void> {
    this._held.set(runId, (this._held.get(runId) ?? 0) + 1);
    try {
      await outcome;
    } finally {
      const left = (this._held.get(runId) ?? 1) - 1;
      if (left === 0) this._held.delete(runId);
      else this._held.set(runId, left);
    }
  }

  /** What was noted may not have happened. */
  forget(): void {
    this._rows.clear();
  }
}
