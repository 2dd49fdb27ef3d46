import type { RunClaim, StoredRun } from "../store.ts";
import type { StoredTexts } from "./large-bodies.ts";
import type { RunRow } from "./rows.ts";

export interface OpenRun extends RunRow {
  /** The bytes of its log. */
  readonly bytes: number;
  /** Its long strings that are already stored. */
  readonly texts: StoredTexts;
}

/**
 * Where the logs of the active runs end, so that an append does not have to query the database. This is safe because
 * only one program at a time uses the folder. Events on their way to the disk count; if they could not be written,
 * `forget` must be called.
 */
export class OpenRuns {
  private readonly _runs = new Map<string, OpenRun>();

  get(runId: string): OpenRun | undefined {
    return this._runs.get(runId);
  }

  /** Adds an active run. */
  add(row: RunRow, bytes: number): void {
    // The settings may be large, and are not needed here.
    const { settings: _, ...run } = row.run;
    this._runs.set(run.id, { key: row.key, epoch: row.epoch, run, bytes, texts: [] });
  }

  /** A worker claims the run, extends its claim, or gives it back. */
  hold(open: OpenRun, claim: RunClaim | undefined): void {
    const { claim: _, ...run } = open.run;
    const epoch = claim?.epoch ?? open.epoch;
    this._runs.set(run.id, { ...open, epoch, run: claim === undefined ? run : { ...run, claim } });
  }

  /** The log of a run grows. */
  grow({ key, epoch, run, bytes, texts }: OpenRun, end: Pick<StoredRun, "lastSeq" | "isOver">, more: number): void {
    this._runs.set(run.id, { key, epoch, run: { ...run, ...end }, bytes: bytes + more, texts });
  }

  /** What is known about the run is wrong, or no longer needed. */
  forget(runId: string): void {
    this._runs.delete(runId);
  }
}
