import type { AgentEvent } from "#domain";

/**
 * Keeps runs and their event logs. One store serves any number of runs and callers at once.
 *
 * Everything that goes wrong rejects with a `StoreError`; nothing is half done when it does. A driver proves these
 * promises with `checkStore` of `millrace/testing`.
 */
export interface RunStore {
  /** Begins an empty log. Rejects with `run-exists` when the id is taken, with `invalid-run` when it is not an id. */
  createRun(run: NewRun): Promise<void>;
  /**
   * Adds events to the end of a log, all of them or none. When it resolves they are as durable as the driver says it
   * makes them, and every later `read` gives them: so they may be shown.
   *
   * The events must go on exactly where the log ends (a merged delta begins at its `firstSeq`): otherwise, and when
   * another writer was faster, it rejects with `out-of-sequence`. This is what fences off a writer that was replaced
   * and does not know it. After `done` it rejects with `run-over`.
   */
  append(runId: string, events: readonly AgentEvent[]): Promise<void>;
  /**
   * The events behind the cursor in order, exactly as they were appended: those whose `seq` is greater than `after`
   * (default -1: from the first one on), at most `limit`. A merged delta whose span the cursor is inside of is among
   * them; leaving it out is up to who knows what the reader has seen. `[]` when there are none yet.
   */
  read(runId: string, options?: ReadOptions): Promise<readonly AgentEvent[]>;
  /** All runs, the latest first; those of one moment by id. */
  listRuns(): Promise<readonly StoredRun[]>;
  /** Gives everything back after what is under way. Idempotent; any other call afterwards rejects with `store-closed`. */
  close(): Promise<void>;
}

/** A run to be kept. */
export interface NewRun {
  /** Letters, digits, `-` and `_`, at most 64. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** A run that is kept. */
export interface StoredRun extends NewRun {
  /** The `seq` of its last event; -1 when it has none. */
  readonly lastSeq: number;
  /** Its `done` is in the log: nothing will be added. */
  readonly isOver: boolean;
}

export interface ReadOptions {
  readonly after?: number;
  readonly limit?: number;
}
