import type { AgentEvent, Message, RunStatus, Usage } from "#domain";

/**
 * Stores runs and their event logs. One store serves any number of runs and callers at once.
 *
 * Every failure rejects with a `StoreError` and leaves nothing half done. Test a driver with `checkStore` of
 * `millrace/testing`.
 */
export interface RunStore {
  /** Begins an empty log. Rejects with `run-exists` if the id is taken, with `invalid-run` if it is not a valid id. */
  createRun(run: NewRun): Promise<void>;
  /**
   * Appends events to a log, all of them or none. When it resolves, they are as durable as the driver promises, and
   * every later `read` returns them: so they may be shown.
   *
   * The events must continue exactly where the log ends (a merged delta begins at its `firstSeq`). Otherwise, and if
   * another writer was faster, it rejects with `out-of-sequence`; this stops a writer that was replaced without
   * noticing. After `done` it rejects with `run-over`.
   */
  append(runId: string, events: readonly AgentEvent[]): Promise<void>;
  /**
   * The events after the cursor in order, exactly as they were appended: those whose `seq` is greater than `after`
   * (default -1: from the first one on), at most `limit`. This includes a merged delta whose span contains the cursor;
   * the caller leaves it out if the reader has seen part of it. `[]` if there are none yet.
   */
  read(runId: string, options?: ReadOptions): Promise<readonly AgentEvent[]>;
  /** All runs, or those wanted, the latest first; runs of the same time are sorted by id. */
  listRuns(wanted?: RunsWanted): Promise<readonly StoredRun[]>;
  /**
   * Stores the answer to an open call of a run that is not over, before it takes effect. `false`: the call has an answer
   * already, or there is no such unfinished run. The first answer stays. Whether the run has such a call is not checked.
   * Rejects with `invalid-answer` if the answer is not valid.
   */
  addAnswer(runId: string, answer: StoredAnswer): Promise<boolean>;
  /** The stored answers of a run, the oldest first. Empty after the run is over, and if there is no such run. */
  listAnswers(runId: string): Promise<readonly StoredAnswer[]>;
  /**
   * Keeps a file of an agent (for example the transcript of its session), replacing an earlier one of that name. If one
   * name is kept several times at once, the last call counts.
   *
   * A name is 1 to 256 letters, digits, `-`, `_`, `.` and `/`. None of its parts between slashes is empty, `.` or `..`,
   * so that it can be used as a path. Otherwise this and the next two reject with `invalid-file`.
   *
   * With a claim, the file is kept only if the claim is still held; otherwise it rejects with `claim-lost`.
   */
  keepFile(name: string, data: Uint8Array, claim?: Pick<HeldClaim, "runId" | "epoch">): Promise<void>;
  /** `undefined` if there is no such file. The array belongs to the caller. */
  findFile(name: string): Promise<Uint8Array | undefined>;
  /** `false` if there is no such file. */
  removeFile(name: string): Promise<boolean>;
  /** Releases everything after pending calls. Idempotent; any other call afterwards rejects with `store-closed`. */
  close(): Promise<void>;
}

/**
 * Stores conversations: threads with their messages, runs, questions and costs, in addition to the event logs.
 *
 * Every call about a thread names the tenant: what belongs to another tenant counts as absent. Questions and decisions
 * are taken from the `permission` events themselves, in the same step that appends them, so that neither can be lost or
 * duplicated. That a run is waiting is taken from its `parked` notice in the same way.
 */
export interface Store extends RunStore {
  /**
   * Begins a run, and adds messages to its thread in the same step. In addition to the rules of `RunStore`, it rejects
   * with `unknown-thread` if the tenant has no such thread, and with `thread-busy` while another run of the thread is
   * unfinished.
   */
  createRun(run: NewRun, messages?: readonly Message[]): Promise<void>;
  /**
   * `settlement` is stored with the events in one step; it belongs to the `done` at their end.
   *
   * While a worker holds a claim of the run, only an append with its `epoch` is accepted; while none does, only one
   * without. Any other rejects with `claim-lost`, even if it has no events. Once the run is over it is `run-over`.
   */
  append(runId: string, events: readonly AgentEvent[], settlement?: Settlement, epoch?: number): Promise<void>;
  findRun(tenant: string, id: string): Promise<StoredRun | undefined>;
  /**
   * Keeps the end of a run that `append` did not accept and that readers are shown nevertheless, replacing an earlier one
   * of the run, in a way that may work although `append` fails: apart from the logs. The next process stores it. Without
   * these three methods, the next process continues such a run.
   */
  keepEnd?(end: KeptEnd): Promise<void>;
  /** The kept ends, in no particular order. */
  listEnds?(): Promise<readonly KeptEnd[]>;
  /** Nothing happens if there is none. */
  removeEnd?(runId: string): Promise<void>;
  /**
   * Gives a run to a worker, and returns the epoch of its claim: greater than that of every earlier claim of the run.
   * From then on, nothing that holders of earlier claims write is accepted. A claim does not expire: it ends with another
   * claim, with `releaseClaim` and with the end of the run. Who works is decided elsewhere; this only makes sure that no
   * one else can write.
   *
   * With `seen`, it is given only if the claim that is held now has this epoch (0: only if none is held); otherwise it
   * rejects with `claim-lost`. So of several workers that want to take over a run exactly one gets it. Rejects with
   * `unknown-run`, with `run-over`, and with `invalid-claim` if `worker` or `at` is not valid.
   *
   * Without this and the next two methods, only one process may work on the runs of a store.
   */
  claim?(runId: string, wanted: ClaimWanted): Promise<number>;
  /**
   * Notes that the worker is at work, and finds out whether it still holds its claim. Rejects with `claim-lost` if it does
   * not, also when the run is over.
   */
  extendClaim?(held: HeldClaim): Promise<void>;
  /** Gives a run back. `false` if this claim is not held any more; nothing changes then. */
  releaseClaim?(held: Pick<HeldClaim, "runId" | "epoch">): Promise<boolean>;
  /**
   * Calls `onChange` with the id of a run of which another process has changed something: its log, its answers or its
   * claim; with `undefined` if that may be true of any run. These are hints: they come late, twice, for nothing, or not at
   * all, so whoever waits has to look from time to time as well. Returns the function that stops them. Without this
   * method, readers look more often.
   */
  watch?(onChange: (runId: string | undefined) => void): () => void;

  /**
   * Keeps what a node says about itself, replacing what it said before, and resolves to what all the others have said, in
   * no particular order. `undefined`: nothing is kept of it any more. A note stays until it is taken back, by its node or
   * another one: who is dead is not for the store to say. Notes need not survive a crash of the store. Rejects with
   * `invalid-node` if the name is not 1 to 200 characters, or if the note is not JSON.
   *
   * Without this method, limits on requests and streams are counted by each node for itself.
   */
  noteNode?(node: string, note: unknown): Promise<readonly NodeNote[]>;

  /** Stores a new thread. Rejects with `invalid-thread` or `thread-exists`. */
  createThread(thread: NewThread): Promise<void>;
  findThread(tenant: string, id: string): Promise<StoredThread | undefined>;
  /** The tenant's threads, the most recently changed first; threads of the same time are sorted by id. */
  listThreads(wanted: ThreadsWanted): Promise<ThreadPage>;
  /** The number of the tenant's threads. Without this method, there is no quota for threads. */
  countThreads?(tenant: string): Promise<number>;
  /**
   * The approximate number of bytes the tenant stores: the JSON of the events, messages and settings of its runs and
   * threads, without the audit, stored answers and files. Removed data does not count. Called often, so a driver should count on every write rather than
   * query. Without this method, there is no quota for bytes.
   */
  countBytes?(tenant: string): Promise<number>;
  /** `false` if there is no such thread. */
  renameThread(tenant: string, id: string, change: { readonly title: string; readonly at: number }): Promise<boolean>;
  /**
   * Removes a thread with everything in it. `false` if there is none; rejects with `thread-busy` while a run is
   * unfinished.
   */
  removeThread(tenant: string, id: string): Promise<boolean>;
  /** The messages of a thread in order; empty if there is no such thread. */
  listMessages(tenant: string, threadId: string): Promise<readonly Message[]>;
  /** The usage and cost of each model in a thread, sorted by name. */
  listUsage(tenant: string, threadId: string): Promise<readonly ModelUsage[]>;

  /**
   * The unanswered permission questions, the oldest first: without those that have a stored answer. They stay while
   * their run is waiting; a finished run has no open questions.
   */
  listQuestions(tenant: string): Promise<readonly Question[]>;
  addAudit(entry: AuditEntry): Promise<void>;
  /** Decisions and other actions, in the order in which they were recorded. They outlive their thread. */
  listAudit(tenant: string): Promise<readonly AuditEntry[]>;

  /**
   * The tenants that have a thread, a run or an entry in the audit, sorted. Without this and the next three methods, a
   * store cannot be copied.
   */
  listTenants?(): Promise<readonly string[]>;
  /** The names of all files, sorted. */
  listFiles?(): Promise<readonly string[]>;
  /**
   * Stores a thread as it is, in one step, replacing what the tenant's thread of that id was and held; its runs stay.
   * Rejects with `thread-exists` if another tenant has the id, and with `invalid-thread`.
   */
  restoreThread?(thread: WholeThread): Promise<void>;
  /** Replaces the audit of a tenant, in one step. */
  replaceAudit?(tenant: string, entries: readonly AuditEntry[]): Promise<void>;
}

/** A run to store. */
export interface NewRun {
  /** Letters, digits, `-` and `_`, at most 64. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** The thread it belongs to, if any. */
  readonly threadId?: string;
  /** The tenant it belongs to. Default `local`. */
  readonly tenant?: string;
  /**
   * What a process that continues the run needs besides its log (its input, its limits), as JSON. The store does not
   * read it.
   */
  readonly settings?: unknown;
}

/** A stored run. */
export interface StoredRun extends NewRun {
  /** The `seq` of its last event; -1 if it has none. */
  readonly lastSeq: number;
  /** Its `done` is in the log: nothing will be added. */
  readonly isOver: boolean;
  /** How it ended; absent while it is unfinished. */
  readonly status?: RunStatus;
  /** No process works on it: its last event is a `notice` of kind `parked`. Absent when it is not waiting. */
  readonly isWaiting?: boolean;
  /**
   * When a waiting run is to be continued even without an answer, in milliseconds since 1970: `data.until` of that
   * notice.
   */
  readonly wakeAt?: number;
  /** Who holds it; absent while no worker does, and when it is over. */
  readonly claim?: RunClaim;
}

/** Which worker holds a run. */
export interface RunClaim {
  /** Which claim of the run it is: greater than that of every earlier one. */
  readonly epoch: number;
  /** The name of the worker, for people. */
  readonly worker: string;
  /**
   * When the run was claimed or the claim extended, in milliseconds since 1970, by the worker's clock. No store compares
   * it with anything.
   */
  readonly at: number;
}

/** What a node says about itself. */
export interface NodeNote {
  readonly node: string;
  readonly note: unknown;
}

/** A claim to a run. */
export interface ClaimWanted extends Pick<RunClaim, "worker" | "at"> {
  /** Only if the claim that is held has this epoch; 0: only if none is. */
  readonly seen?: number;
}

/** A claim that a worker believes to hold. */
export interface HeldClaim extends Pick<RunClaim, "epoch" | "at"> {
  readonly runId: string;
}

/** The answer to a call of an unfinished run, stored before it takes effect. */
export interface StoredAnswer {
  readonly callId: string;
  /** When it was given, in milliseconds since 1970. */
  readonly at: number;
  /** The answer to a permission question. */
  readonly decision?: { readonly allow: boolean; readonly reason?: string; readonly input?: unknown };
  /** The result of work that was finished elsewhere. */
  readonly result?: { readonly output: unknown; readonly isError: boolean };
}

/** Which runs to list. Without a field, all of them. */
export interface RunsWanted {
  /** Only the run with this id, whichever tenant it belongs to. */
  readonly id?: string;
  /** Only runs of this thread. */
  readonly threadId?: string;
  /** Only runs that are over, or only those that are not. */
  readonly isOver?: boolean;
  /** Only runs that are waiting, or only those that are not. */
  readonly isWaiting?: boolean;
}

/** Which events of a log to read. */
export interface ReadOptions {
  /** Only events whose `seq` is greater. Default -1: from the first one on. */
  readonly after?: number;
  /** The largest number of events. */
  readonly limit?: number;
  /** Stops after the event with which this many characters are reached, so that a reader's memory is bounded. */
  readonly maxCharacters?: number;
}

/** A conversation to store. */
export interface NewThread {
  readonly id: string;
  readonly tenant: string;
  readonly title: string;
  /** The target that answers: a backend string or an agent's name. It stays the same even if the default changes. */
  readonly target: string;
  readonly createdAt: number;
}

/** A conversation with its messages and usage, but without its runs. */
export interface WholeThread extends NewThread {
  readonly updatedAt: number;
  readonly messages: readonly Message[];
  /** One line for each model. */
  readonly usage: readonly ModelUsage[];
}

/** A stored conversation. */
export interface StoredThread extends NewThread {
  readonly updatedAt: number;
  /** The sum over all its runs. */
  readonly usage: Usage;
  /** Absent while the cost of no run is known. */
  readonly costUsd?: number;
  /** The active run. */
  readonly runId?: string;
}

/** Which threads to list. */
export interface ThreadsWanted {
  readonly tenant: string;
  /** Only threads whose title or messages contain this text; case is ignored. */
  readonly search?: string;
  /** Default 50. */
  readonly limit?: number;
  /** The `next` of the previous page. */
  readonly before?: string;
}

/** Threads, and how to get the ones after them. */
export interface ThreadPage {
  readonly threads: readonly StoredThread[];
  /** Requests the following page; absent on the last one. */
  readonly next?: string;
}

/** What a run adds to its thread when it ends. */
export interface Settlement {
  readonly at: number;
  readonly messages: readonly Message[];
  readonly usage: readonly Omit<ModelUsage, "runs">[];
}

/** The end of a run's log that could not be stored. */
export interface KeptEnd {
  readonly run: NewRun;
  /** The last events of the log, with `done`. The first of them may be stored already. */
  readonly events: readonly AgentEvent[];
  readonly settlement?: Settlement;
}

/** The usage of one model in a thread. */
export interface ModelUsage {
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd?: number;
  /** In how many runs it answered. */
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

/** A recorded decision or action. */
export interface AuditEntry {
  readonly at: number;
  readonly tenant: string;
  /** `permission-allowed`, `permission-denied`, `run-aborted`, `thread-removed` … */
  readonly action: string;
  readonly threadId?: string;
  readonly runId?: string;
  readonly callId?: string;
  /** The origin of the decision: `rule`, `callback`, `hook`, `guard` or `user`. */
  readonly by?: string;
  /** The tool's name, a reason: what a person needs to understand the entry. */
  readonly detail?: string;
}
