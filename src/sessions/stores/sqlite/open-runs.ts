import type { StoredRun } from "../store.ts";
import { requireRunRow } from "./reads.ts";
import type { RunRow } from "./rows.ts";
import type { Statements } from "./statements.ts";

/**
 * Where the logs of the runs under way end, so that an append needs not ask the database. That is safe because one
 * program at a time has the folder. It says what the current transaction says: whoever undoes one must `forget`.
 */
export class OpenRuns {
  private readonly _sql: Statements;
  private readonly _rows = new Map<string, RunRow>();

  constructor(sql: Statements) {
    this._sql = sql;
  }

  /** @throws StoreError `unknown-run`. */
  require(runId: string): RunRow {
    return this._rows.get(runId) ?? requireRunRow(this._sql, runId);
  }

  /** The log of a run has grown; one that is over is not kept. */
  note({ key, run }: RunRow, end: Pick<StoredRun, "lastSeq" | "isOver">): void {
    if (end.isOver) this._rows.delete(run.id);
    else this._rows.set(run.id, { key, run: { ...run, ...end } });
  }

  /** What was noted may not have happened. */
  forget(): void {
    this._rows.clear();
  }
}
