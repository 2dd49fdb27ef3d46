import type { StoredRun } from "../store.ts";
import type { StoredTexts } from "./large-bodies.ts";
import type { RunRow } from "./rows.ts";

export interface OpenRun extends RunRow {
  /** Bytes of its log. */
  readonly bytes: number;
  /** Its long texts that are stored. */
  readonly texts: StoredTexts;
}

/**
 * Where the logs of the runs under way end, so that an append needs not ask the database. That is safe because one
 * program at a time has the folder. What is on its way to the disk counts: whoever could not write it must `forget`.
 */
export class OpenRuns {
  private readonly _runs = new Map<string, OpenRun>();

  get(runId: string): OpenRun | undefined {
    return this._runs.get(runId);
  }

  /** A run that is under way. */
  add(row: RunRow, bytes: number): void {
    this._runs.set(row.run.id, { ...row, bytes, texts: [] });
  }

  /** The log of a run grows. */
  grow({ key, run, bytes, texts }: OpenRun, end: Pick<StoredRun, "lastSeq" | "isOver">, more: number): void {
    this._runs.set(run.id, { key, run: { ...run, ...end }, bytes: bytes + more, texts });
  }

  /** What is known of the run is wrong, or of no use any more. */
  forget(runId: string): void {
    this._runs.delete(runId);
  }
}
