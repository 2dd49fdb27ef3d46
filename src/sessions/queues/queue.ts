/**
 * Decides which node works on which run. Any number of nodes use one queue at once, each through its own `RunQueue`.
 *
 * The queue only says who is to work. That two nodes never write to one run is ensured by the claims of the store, so a
 * queue may hand out a job once too often; it must never lose one. Every failure rejects with a `QueueError`. Test a
 * driver with `checkQueue` of `millrace/testing`.
 */
export interface RunQueue {
  /**
   * Queues a run. When it resolves, the run is going to be taken from now on, or from `notBefore` on, even if this process
   * dies.
   *
   * A run that is queued already is not queued twice; it becomes due at the earlier of both times, and may be handed out
   * again at the later one. A run that a node is working on is queued again when that work is finished: so what was stored
   * before the call is seen by a worker that takes the run after it. Rejects with `invalid-job` if the job is not valid.
   */
  add(job: QueuedJob): Promise<void>;
  /**
   * The next due job of one of these kinds. Waits for one; `undefined` when the signal fires or the queue is closed
   * meanwhile. Of several nodes only one gets a job, and jobs of one kind are handed out in the order in which they became
   * due, as far as the engine keeps to it. Rejects with `queue-failed` if the engine reports that it cannot be reached.
   */
  take(wanted: JobsWanted): Promise<TakenJob | undefined>;
  /** How many jobs there are, for metrics. */
  count(): Promise<QueueCounts>;
  /**
   * Gives back what this node holds, ends what it waits for, and releases everything. Idempotent; any other call
   * afterwards rejects with `queue-closed`.
   */
  close(): Promise<void>;
}

/** A run to work on. */
export interface QueuedJob {
  /** The id of the run. */
  readonly runId: string;
  /**
   * What a node needs to work on it: 1 to 64 letters, digits, `-` and `_`. A run always has the same kind. Default `any`:
   * every node can.
   */
  readonly kind?: string;
  /** When it becomes due, in milliseconds since 1970. Default: now. */
  readonly notBefore?: number;
}

/** Which jobs to take. */
export interface JobsWanted {
  /** The kinds that this node can work on. Default: only `any`. */
  readonly kinds?: readonly string[];
  /** Stops waiting. */
  readonly signal?: AbortSignal;
}

/**
 * A job that this node works on until it finishes it or gives it back. The queue extends its lock meanwhile. If the node
 * dies or hangs, the lock ends, and another node gets the job.
 */
export interface TakenJob {
  readonly runId: string;
  readonly kind: string;
  /** It was taken before, by a node that did not finish it or give it back. */
  readonly isHandOver: boolean;
  /**
   * Fires when the queue reports that this node does not hold the job any more. An engine that cannot be reached reports
   * nothing.
   */
  readonly lost: AbortSignal;
  /** Extends the lock at once. `false`: the job is not held any more. */
  extend(): Promise<boolean>;
  /** The work is done. The run is queued again only if it was added meanwhile. `false`: the job is not held any more. */
  finish(): Promise<boolean>;
  /** Another take gets it, on this node or another. `false`: the job is not held any more. */
  giveBack(): Promise<boolean>;
}

/** How many jobs a queue has. */
export interface QueueCounts {
  /** Due, and taken by nobody. */
  readonly waiting: number;
  /** Not due yet. */
  readonly delayed: number;
  /** Taken. */
  readonly active: number;
}

/** The kind of a job on which every node can work. */
export const ANY_KIND = "any";
