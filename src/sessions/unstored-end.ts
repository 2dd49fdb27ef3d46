import {
  type AgentEvent,
  type Clock,
  type DoneEvent,
  describeThrown,
  doneEvent,
  type ErrorDetail,
  errorItem,
  numberEvent,
} from "#domain";
import { closeInterruptedRun } from "./event-log-closing.ts";
import type { EventBatch } from "./live-tail.ts";
import type { KeptEnd, NewRun, Settlement, Store, StoredRun } from "./stores/store.ts";
import { isStoreError } from "./stores/store-error.ts";
import { isWanted } from "./stores/sequence.ts";
import { LOCAL_TENANT } from "./stores/thread-rules.ts";

/**
 * The last events of a run as they are shown when they could not be stored: its `done` reports this. A run that had
 * failed by itself keeps its own reason.
 */
export function endUnstored(events: EventBatch, why: string): EventBatch {
  const done = events.at(-1);
  if (done?.type !== "done" || done.result.status === "error") return events;
  return endWithError(
    events,
    storeFailure(why, "Make room, and ask again. What was written so far is stored as soon as that can be done."),
  );
}

/** The error of a run whose events could not be stored. */
export function storeFailure(why: string, troubleshooting: string): ErrorDetail {
  return {
    code: "store-failed",
    message: `The run was ended because its events could not be stored: ${why}`,
    terminal: true,
    diagnostic: { hint: "The disk is full, or the database does not answer.", troubleshooting },
  };
}

/** The last events of a run that was ended by this error, which replaces the outcome in its own `done`. */
export function endWithError(events: EventBatch, error: ErrorDetail): EventBatch {
  const done = events.at(-1);
  if (done?.type !== "done") return events;
  const { seq, ts, runId } = done;
  const result: DoneEvent["result"] = {
    ...done.result,
    status: "error",
    subtype: error.code,
    error,
    errors: [...done.result.errors, error],
  };
  const place = { ts, runId };
  return [
    ...events.slice(0, -1),
    numberEvent(errorItem(error), seq, place),
    numberEvent(doneEvent(result), seq + 1, place),
  ];
}

/** The ends of logs that are not stored yet. */
export interface UnstoredEnds {
  /** The store, overlaid with these ends: its readers see these runs as finished. */
  readonly store: Store;
  /**
   * Keeps the end of a run's log, and stores it as soon as possible. Never rejects: resolves when the end may be shown,
   * because the store keeps it for the next process, or cannot.
   */
  hold(run: NewRun, events: EventBatch, settlement: Settlement | undefined): Promise<void>;
  /** Takes over the ends that an earlier process has kept, and stores them. Rejects if they cannot be listed. */
  restore(): Promise<void>;
  /** Tries once more to store what is kept, then leaves it to the next process. */
  close(): Promise<void>;
}

export interface UnstoredEndsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Called for each run whose end was stored after all. */
  readonly onStored?: (runId: string) => void;
}

/** The delay between two attempts: it starts at the first value and doubles up to the longest. */
const RETRY_MS = { first: 1000, longest: 30_000 } as const;

interface HeldEnd {
  readonly run: NewRun;
  readonly events: EventBatch;
  readonly firstSeq: number;
  readonly done: DoneEvent;
  readonly settlement: Settlement | undefined;
}

/** Creates the holder of unstored ends over a store. */
export function createUnstoredEnds({ store, clock, onStored }: UnstoredEndsOptions): UnstoredEnds {
  const held = new Map<string, HeldEnd>();
  let takeBack: (() => void) | undefined;
  let delayMs: number = RETRY_MS.first;
  let isClosed = false;

  const storeEnd = async (end: HeldEnd): Promise<void> => {
    await appendEnd(store, end, clock);
    held.delete(end.run.id);
    onStored?.(end.run.id);
    // One that stays is removed by the next process, which finds that its run is over.
    await store.removeEnd?.(end.run.id).catch(() => undefined);
  };
  const add = ({ run, events, settlement }: KeptEnd): void => {
    const [first] = events;
    const done = events.at(-1);
    if (first === undefined || done?.type !== "done") return;
    held.set(run.id, { run, events, firstSeq: first.firstSeq ?? first.seq, done, settlement });
  };
  const retryAll = async (): Promise<void> => {
    try {
      for (const end of [...held.values()]) await storeEnd(end);
      delayMs = RETRY_MS.first;
    } catch {
      delayMs = Math.min(RETRY_MS.longest, 2 * delayMs);
      schedule();
    }
  };
  const schedule = (): void => {
    if (isClosed || takeBack !== undefined) return;
    takeBack = clock.after(delayMs, () => {
      takeBack = undefined;
      retryAll().catch(() => undefined);
    });
  };
  const endOfThread = (threadId: string): HeldEnd | undefined =>
    [...held.values()].find(({ run }) => run.threadId === threadId);

  return {
    store: overlayEnds(store, held, { storeEnd, endOfThread }),
    async hold(run, events, settlement) {
      const end = { run, events, ...(settlement !== undefined && { settlement }) };
      // Without it, the next process would continue a run that is over for its readers.
      await store.keepEnd?.(end).catch(() => undefined);
      add(end);
      schedule();
    },
    async restore() {
      for (const end of (await store.listEnds?.()) ?? []) add(end);
      if (held.size > 0) await retryAll();
    },
    async close() {
      isClosed = true;
      takeBack?.();
      if (held.size > 0) await retryAll();
    },
  };
}

/**
 * Stores the end of a log. Part of it may already be there: a store that reported a failure may still have stored the
 * events.
 */
async function appendEnd(store: Store, { run, events, settlement }: HeldEnd, clock: Clock): Promise<void> {
  try {
    await store.append(run.id, events, settlement);
  } catch (error) {
    if (!isStoreError(error) || error.code === "store-failed" || error.code === "store-closed") throw error;
    const stored = await store.findRun(run.tenant ?? LOCAL_TENANT, run.id);
    if (stored === undefined || stored.isOver) return;
    const missing = events.filter(({ seq }) => seq > stored.lastSeq);
    if (error.code === "out-of-sequence" && missing.length < events.length) {
      await store.append(run.id, missing, settlement);
      return;
    }
    // The store will never accept it as it is.
    await closeInterruptedRun(store, stored, clock, describeThrown(error));
  }
}

interface Ends {
  storeEnd(end: HeldEnd): Promise<void>;
  endOfThread(threadId: string): HeldEnd | undefined;
}

/** A store that also shows ends which it does not contain. */
function overlayEnds(store: Store, held: ReadonlyMap<string, HeldEnd>, { storeEnd, endOfThread }: Ends): Store {
  const showRun = (run: StoredRun): StoredRun => {
    const end = held.get(run.id);
    return end === undefined ? run : endedRun(end);
  };
  const showThread = <Thread extends { readonly id: string; readonly runId?: string }>(thread: Thread): Thread => {
    if (thread.runId === undefined || !held.has(thread.runId)) return thread;
    const { runId: _, ...rest } = thread;
    return rest as Thread;
  };
  /** An unstored end is written before anything that follows it. */
  const settleFirst = async (threadId: string): Promise<void> => {
    const end = endOfThread(threadId);
    if (end !== undefined) await storeEnd(end);
  };
  // Method by method: a store may be an instance of a class, whose methods a spread would lose.
  return {
    append: (runId, events, settlement, epoch) => store.append(runId, events, settlement, epoch),
    ...overlayClaims(store),
    createThread: (thread) => store.createThread(thread),
    ...(store.keepEnd !== undefined && {
      keepEnd: (end: KeptEnd) => store.keepEnd?.(end) ?? Promise.resolve(),
      listEnds: () => store.listEnds?.() ?? Promise.resolve([]),
      removeEnd: (runId: string) => store.removeEnd?.(runId) ?? Promise.resolve(),
    }),
    ...(store.countThreads !== undefined && {
      countThreads: (tenant: string) => store.countThreads?.(tenant) ?? Promise.resolve(0),
    }),
    ...(store.countBytes !== undefined && {
      countBytes: (tenant: string) => store.countBytes?.(tenant) ?? Promise.resolve(0),
    }),
    renameThread: (tenant, id, change) => store.renameThread(tenant, id, change),
    listUsage: (tenant, threadId) => store.listUsage(tenant, threadId),
    keepFile: (name, data, claim) => store.keepFile(name, data, claim),
    findFile: (name) => store.findFile(name),
    removeFile: (name) => store.removeFile(name),
    addAudit: (entry) => store.addAudit(entry),
    listAudit: (tenant) => store.listAudit(tenant),
    close: () => store.close(),
    async createRun(run, messages) {
      if (run.threadId !== undefined) await settleFirst(run.threadId);
      await store.createRun(run, messages);
    },
    async read(runId, options = {}) {
      const end = held.get(runId);
      if (end === undefined) return await store.read(runId, options);
      const { after = -1, limit = Number.MAX_SAFE_INTEGER } = options;
      const stored = after + 1 >= end.firstSeq ? [] : await store.read(runId, options);
      const next = (stored.at(-1)?.seq ?? after) + 1;
      if (next < end.firstSeq || stored.length >= limit) return stored;
      // The end may have been stored during the read: events that are already there are not returned twice.
      return [...stored, ...end.events.filter(({ seq }: AgentEvent) => seq >= next)].slice(0, limit);
    },
    async listRuns(wanted = {}) {
      if (held.size === 0) return await store.listRuns(wanted);
      const { isOver: _isOver, isWaiting: _isWaiting, ...place } = wanted;
      return (await store.listRuns(place)).map(showRun).filter((run) => isWanted(run, wanted));
    },
    async addAnswer(runId, answer) {
      return held.has(runId) ? false : await store.addAnswer(runId, answer);
    },
    async listAnswers(runId) {
      return held.has(runId) ? [] : await store.listAnswers(runId);
    },
    async findRun(tenant, id) {
      const end = held.get(id);
      if (end === undefined) return await store.findRun(tenant, id);
      return (end.run.tenant ?? LOCAL_TENANT) === tenant ? endedRun(end) : undefined;
    },
    async findThread(tenant, id) {
      const thread = await store.findThread(tenant, id);
      return thread === undefined ? undefined : showThread(thread);
    },
    async listThreads(wanted) {
      const page = await store.listThreads(wanted);
      return { ...page, threads: page.threads.map(showThread) };
    },
    async removeThread(tenant, id) {
      await settleFirst(id);
      return await store.removeThread(tenant, id);
    },
    async listMessages(tenant, threadId) {
      const messages = await store.listMessages(tenant, threadId);
      const end = endOfThread(threadId);
      if (end?.settlement === undefined || (end.run.tenant ?? LOCAL_TENANT) !== tenant) return messages;
      return [...messages, ...end.settlement.messages];
    },
    async listQuestions(tenant) {
      return (await store.listQuestions(tenant)).filter(({ runId }) => !held.has(runId));
    },
  };
}

function endedRun({ run, done }: HeldEnd): StoredRun {
  return { ...run, lastSeq: done.seq, isOver: true, status: done.result.status };
}

/** What stores have in which several nodes work. */
function overlayClaims(store: Store): Pick<Store, "claim" | "extendClaim" | "releaseClaim" | "watch" | "noteNode"> {
  const { claim, extendClaim, releaseClaim, watch, noteNode } = store;
  return {
    ...(claim !== undefined && { claim: claim.bind(store) }),
    ...(extendClaim !== undefined && { extendClaim: extendClaim.bind(store) }),
    ...(releaseClaim !== undefined && { releaseClaim: releaseClaim.bind(store) }),
    ...(watch !== undefined && { watch: watch.bind(store) }),
    ...(noteNode !== undefined && { noteNode: noteNode.bind(store) }),
  };
}
