import { type AgentEvent, type Clock, describeThrown } from "#domain";
import { createCursorCut } from "./event-log-cursor.ts";
import { type EventBatch, Feed } from "./event-log-feed.ts";
import { createWriter, pump, type RunBooks } from "./event-log-writer.ts";
import type { Settlement, Store } from "./stores/store.ts";
import { isStoreError } from "./stores/store-error.ts";

/** Where a test may stop the world: before an append, and right behind it. */
export type FailPoint = (name: "before-append" | "after-append") => Promise<void> | void;

export interface EventLogOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly failPoint?: FailPoint;
  /** Resolves in the next turn of the event loop; what comes until then is stored together. */
  readonly nextTurn?: (() => Promise<void>) | undefined;
}

/** A run as far as its log is concerned. */
export interface LoggedRun extends AsyncIterable<AgentEvent> {
  readonly id: string;
}

export interface FollowOptions {
  /** The number of the last event the reader has seen. Default -1: none. */
  readonly after?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes runs into a store, and lets any number of readers follow them from any cursor.
 *
 * A reader sees an event only after the store has acknowledged it. What it is given over all its visits is the log
 * from its first cursor on: nothing lost, nothing twice, nothing out of order.
 */
export interface EventLog {
  /**
   * Writes a run's events until its `done` is stored; the run must be in the store. What waits while an append is
   * under way goes into the next one. `books` say what goes into the thread together with `done`.
   *
   * Never rejects: `undefined` when all is stored, otherwise why the store would not take it any more.
   */
  write(run: LoggedRun, books?: RunBooks): Promise<string | undefined>;
  /** The events behind a cursor in batches, until `done`, the end of the log's writer, or the signal. */
  follow(runId: string, options?: FollowOptions): AsyncIterableIterator<EventBatch>;
}

/** What a reader takes from the store at a time. */
const READ = { limit: 512, maxCharacters: 262_144 } as const;

/** A failing disk is asked again after these; then the run cannot go on. */
const RETRY_MS = [50, 500, 2000] as const;

/** How often a log is looked at that another process may be writing. */
const POLL_MS = 250;

/** Creates the event log over a store. */
export function createEventLog(options: EventLogOptions): EventLog {
  const { store, clock, failPoint } = options;
  const feeds = new Map<string, Feed>();
  /** Readers who may have come before the writer of their run. */
  const early = new Map<string, Set<EarlyReader>>();

  const append = async (runId: string, events: EventBatch, settlement: Settlement | undefined): Promise<void> => {
    await failPoint?.("before-append");
    for (let attempt = 0; ; attempt += 1) {
      try {
        await store.append(runId, events, settlement);
        await failPoint?.("after-append");
        return;
      } catch (error) {
        const wait = isStoreError(error) && error.code === "store-failed" ? RETRY_MS[attempt] : undefined;
        if (wait === undefined) throw error;
        await pause(clock, wait, undefined);
      }
    }
  };

  const follow = async function* (
    runId: string,
    { after = -1, signal }: FollowOptions = {},
  ): AsyncGenerator<EventBatch, undefined> {
    const reader = new EarlyReader();
    const leave = enter(early, runId, reader);
    try {
      yield* readOn(runId, { after, signal }, reader);
    } finally {
      leave();
    }
    return undefined;
  };

  const readOn = async function* (
    runId: string,
    { after, signal }: Required<FollowOptions>,
    reader: EarlyReader,
  ): AsyncGenerator<EventBatch, undefined> {
    const cut = createCursorCut(after);
    let cursor = after;
    let feed: Feed | undefined;
    while (signal?.aborted !== true) {
      // Kept when it is gone from the table: the last events of a run are shared like all others.
      feed = feeds.get(runId) ?? feed;
      const isOver = feed?.isOver === true;
      const batch: EventBatch = feed?.behind(cursor) ?? (await store.read(runId, { after: cursor, ...READ }));
      const last = batch.at(-1);
      if (last !== undefined) {
        cursor = last.seq;
        const shown = cut(batch);
        if (shown.length > 0) yield shown;
        if (last.type === "done") return undefined;
      } else if (isOver) {
        return undefined;
      } else if (feed !== undefined) {
        // Nothing can come between the look above and this: the log is the truth, and this only wakes us.
        await feed.changed(signal);
      } else if (await isClosed(store, runId, cursor)) {
        return undefined;
      } else {
        // Another process may write that run, or we shall.
        await reader.wait(clock, signal);
      }
    }
    return undefined;
  };

  return {
    async write(run, books) {
      const feed = new Feed();
      feeds.set(run.id, feed);
      for (const reader of early.get(run.id) ?? []) reader.wake();
      const writer = createWriter(run.id, append, feed, books, options.nextTurn);
      try {
        await pump(run, writer);
        return undefined;
      } catch (error) {
        return describeThrown(error);
      } finally {
        feeds.delete(run.id);
        feed.end();
      }
    },
    follow,
  };
}

/** A reader that has no writer to wait for. */
class EarlyReader {
  private _hasNews = false;
  private _arrival: AbortController | undefined;

  /** A writer has come. */
  wake(): void {
    this._hasNews = true;
    this._arrival?.abort();
  }

  /** Waits a little, or until a writer has come since the last time. */
  async wait(clock: Clock, signal: AbortSignal | undefined): Promise<void> {
    const arrival = new AbortController();
    this._arrival = arrival;
    if (!this._hasNews) {
      await pause(clock, POLL_MS, signal === undefined ? arrival.signal : AbortSignal.any([signal, arrival.signal]));
    }
    this._hasNews = false;
  }
}

function enter(early: Map<string, Set<EarlyReader>>, runId: string, reader: EarlyReader): () => void {
  const readers = early.get(runId) ?? new Set();
  early.set(runId, readers.add(reader));
  return () => {
    readers.delete(reader);
    if (readers.size === 0) early.delete(runId);
  };
}

async function isClosed(store: Store, runId: string, cursor: number): Promise<boolean> {
  const [last] = (await store.read(runId, { after: Math.max(-1, cursor - 1), limit: 1 })).slice(-1);
  return last?.type === "done" && last.seq <= cursor;
}

/** Waits, or until the signal fires. */
function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const finish = (): void => {
      takeBack();
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const takeBack = clock.after(ms, finish);
    signal?.addEventListener("abort", finish);
  });
}
