import type { AgentEvent, Message, RunStatus, Usage } from "#domain";

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
  /** All runs, or those wanted, the latest first; those of one moment by id. */
  listRuns(wanted?: RunsWanted): Promise<readonly StoredRun[]>;
  /** Gives everything back after what is under way. Idempotent; any other call afterwards rejects with `store-closed`. */
  close(): Promise<void>;
}

/**
 * Keeps conversations: threads with their messages, runs, questions and costs, beside the event logs.
 *
 * Every question about a thread or a run names the tenant: what belongs to another is as good as not there. What is
 * asked of a person and what was decided is taken from the `permission` events themselves, in the same step that
 * appends them, so that neither can be lost or told twice.
 */
export interface Store extends RunStore {
  /**
   * Begins a run, and adds messages to its thread in the same step. Beyond what `RunStore` says: rejects with
   * `unknown-thread` when the tenant has no such thread, with `thread-busy` while another run of it is not over.
   */
  createRun(run: NewRun, messages?: readonly Message[]): Promise<void>;
  /** `settlement` goes with the events in one step; it belongs to the `done` that is the last of them. */
  append(runId: string, events: readonly AgentEvent[], settlement?: Settlement): Promise<void>;
  findRun(tenant: string, id: string): Promise<StoredRun | undefined>;

  /** Rejects with `invalid-thread` or `thread-exists`. */
  createThread(thread: NewThread): Promise<void>;
  findThread(tenant: string, id: string): Promise<StoredThread | undefined>;
  /** The tenant's threads, the one that changed last first; those of one moment by id. */
  listThreads(wanted: ThreadsWanted): Promise<ThreadPage>;
  /** How many threads the tenant has. A store that does not say it has no quota of threads. */
  countThreads?(tenant: string): Promise<number>;
  /**
   * About how many bytes the tenant keeps: the JSON of the events and messages of its runs and threads, the audit not
   * among them. What is removed counts no more. Asked often, so a driver counts when it stores, and searches for nothing.
   * A store that does not say it has no quota of bytes.
   */
  countBytes?(tenant: string): Promise<number>;
  /** `false` when there is no such thread. */
  renameThread(tenant: string, id: string, change: { readonly title: string; readonly at: number }): Promise<boolean>;
  /** Removes a thread with everything in it. `false` when there is none; rejects with `thread-busy` while a run goes on. */
  removeThread(tenant: string, id: string): Promise<boolean>;
  /** The messages of a thread in order; none when there is no such thread. */
  listMessages(tenant: string, threadId: string): Promise<readonly Message[]>;
  /** What each model was asked and cost in a thread, by name. */
  listUsage(tenant: string, threadId: string): Promise<readonly ModelUsage[]>;

  /** The permission questions nobody has answered, the oldest first. A run that is over asks nothing any more. */
  listQuestions(tenant: string): Promise<readonly Question[]>;
  addAudit(entry: AuditEntry): Promise<void>;
  /** Decisions and other deeds, in the order they were noted. They outlive the thread they are about. */
  listAudit(tenant: string): Promise<readonly AuditEntry[]>;
}

/** A run to be kept. */
export interface NewRun {
  /** Letters, digits, `-` and `_`, at most 64. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** The thread it belongs to, if it does. */
  readonly threadId?: string;
  /** Whose it is. Default `local`. */
  readonly tenant?: string;
}

/** A run that is kept. */
export interface StoredRun extends NewRun {
  /** The `seq` of its last event; -1 when it has none. */
  readonly lastSeq: number;
  /** Its `done` is in the log: nothing will be added. */
  readonly isOver: boolean;
  /** How it ended; absent while it is not over. */
  readonly status?: RunStatus;
}

export interface RunsWanted {
  readonly threadId?: string;
  readonly isOver?: boolean;
}

export interface ReadOptions {
  readonly after?: number;
  readonly limit?: number;
  /** Stops behind the event with which this many characters are reached, so that a reader's memory is bounded. */
  readonly maxCharacters?: number;
}

/** A conversation to be kept. */
export interface NewThread {
  readonly id: string;
  readonly tenant: string;
  readonly title: string;
  /** Who answers: a backend string or an agent's name. It stays, whatever the default becomes. */
  readonly target: string;
  readonly createdAt: number;
}

export interface StoredThread extends NewThread {
  readonly updatedAt: number;
  /** Of all its runs together. */
  readonly usage: Usage;
  /** Absent while no run's cost is known. */
  readonly costUsd?: number;
  /** The run that goes on. */
  readonly runId?: string;
}

export interface ThreadsWanted {
  readonly tenant: string;
  /** Only threads whose title or messages hold this text; capitals do not matter. */
  readonly search?: string;
  /** Default 50. */
  readonly limit?: number;
  /** A `next` of the page before. */
  readonly before?: string;
}

export interface ThreadPage {
  readonly threads: readonly StoredThread[];
  /** Gives the following page; absent on the last one. */
  readonly next?: string;
}

/** What a run leaves in its thread when it is over. */
export interface Settlement {
  readonly at: number;
  readonly messages: readonly Message[];
  readonly usage: readonly Omit<ModelUsage, "runs">[];
}

/** What one model was asked in a thread. */
export interface ModelUsage {
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd?: number;
  /** How many runs it answered in. */
  readonly runs: number;
}

/** A tool call that waits for a person. */
export interface Question {
  readonly runId: string;
  readonly threadId?: string;
  readonly tenant: string;
  readonly callId: string;
  readonly name: string;
  readonly input?: unknown;
  readonly reason?: string;
  readonly askedAt: number;
}

/** Something somebody decided or did. */
export interface AuditEntry {
  readonly at: number;
  readonly tenant: string;
  /** `permission-allowed`, `permission-denied`, `run-aborted`, `thread-removed` … */
  readonly action: string;
  readonly threadId?: string;
  readonly runId?: string;
  readonly callId?: string;
  /** Who decided: `rule`, `callback`, `hook`, `guard` or `user`. */
  readonly by?: string;
  /** The tool's name, a reason: what a person needs to understand the entry. */
  readonly detail?: string;
}
