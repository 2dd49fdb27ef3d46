import { type AgentEvent, type Clock, describeThrown } from "#domain";
import { type EventBatch, LiveTail } from "./live-tail.ts";
import { LogReader, type ReaderHome } from "./event-log-reader.ts";
import { createWriter, pump, type ThreadRecorder, type Writer } from "./event-log-writer.ts";
import { endUnstored } from "./unstored-end.ts";
import type { Settlement, Store } from "./stores/store.ts";
import { isStoreError } from "./stores/store-error.ts";

export interface EventLogOptions {
  readonly store: Store;
  readonly clock: Clock;
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
   * Never rejects: `undefined` when all is stored, otherwise why the store would not take it any more. Then `rescue`
   * keeps what is left, and readers are given it at once: a run must not go on for ever in their eyes because of a disk.
   */
  write(run: LoggedRun, books?: ThreadRecorder, rescue?: Rescue): Promise<string | undefined>;
  /** The events behind a cursor in batches, until `done`, the end of the log's writer, or the signal. */
  follow(runId: string, options?: FollowOptions): AsyncIterableIterator<EventBatch>;
}

/** What becomes of a run whose events cannot be stored. */
export interface Rescue {
  /** Brings the run to its end: there is no use in going on. */
  stop(why: string): void;
  /** Keeps the end of the log, until it can be stored. `settlement` goes with it. */
  hold(events: EventBatch, settlement: Settlement | undefined): void;
}

/** A failing disk is asked again after these; then the run cannot go on. */
const RETRY_MS = [50, 500, 2000] as const;

/** How much of all runs under way is kept in memory for their readers; who lags further reads the store. */
const TAIL_WEIGHTS = { all: 32 * 1_048_576, most: 1_048_576, least: 32_768 } as const;

/** Creates the event log over a store. */
export function createEventLog(options: EventLogOptions): EventLog {
  const { store, clock } = options;
  const feeds = new Map<string, LiveTail>();
  /** Readers by run; some may have come before its writer. */
  const readers = new Map<string, Set<LogReader>>();

  /** An equal share each: a thousand runs must not hold a thousand times what one may. */
  const tailWeight = (): number =>
    Math.max(TAIL_WEIGHTS.least, Math.min(TAIL_WEIGHTS.most, TAIL_WEIGHTS.all / feeds.size));

  const append = async (runId: string, events: EventBatch, settlement: Settlement | undefined): Promise<void> => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await store.append(runId, events, settlement);
        return;
      } catch (error) {
        // It was carried out before, and only its answer was lost: a store on another machine cannot do better.
        if (attempt > 0 && isRefusal(error) && (await isStored(store, runId, events))) return;
        const wait = isStoreError(error) && error.code === "store-failed" ? RETRY_MS[attempt] : undefined;
        if (wait === undefined) throw error;
        await pause(clock, wait);
      }
    }
  };

  const home: ReaderHome = {
    store,
    clock,
    feedOf: (runId) => feeds.get(runId),
    enter(reader) {
      const others = readers.get(reader.runId) ?? new Set();
      readers.set(reader.runId, others.add(reader));
    },
    leave(reader) {
      const others = readers.get(reader.runId);
      others?.delete(reader);
      if (others?.size === 0) readers.delete(reader.runId);
    },
  };

  return {
    async write(run, books, rescue) {
      const feed = new LiveTail({ maxWeight: tailWeight, readers: () => readers.get(run.id)?.size ?? 0 });
      feeds.set(run.id, feed);
      for (const reader of readers.get(run.id) ?? []) reader.meetWriter();
      const onFailure = (error: unknown): void => rescue?.stop(describeThrown(error));
      const writer = createWriter({ runId: run.id, append, feed, books, nextTurn: options.nextTurn, onFailure });
      try {
        await pump(run, writer, rescue !== undefined);
        return undefined;
      } catch (error) {
        if (rescue !== undefined && isOfTheDisk(error))
          rescueEnd(writer, describeThrown(error), { books, rescue, feed });
        return describeThrown(error);
      } finally {
        feeds.delete(run.id);
        feed.end();
      }
    },
    follow: (runId, { after = -1, signal } = {}) => new LogReader(runId, after, signal, home),
  };
}

/** Whether the store could not do it; otherwise it would not, and its log is the truth. */
function isOfTheDisk(error: unknown): boolean {
  return !isStoreError(error) || error.code === "store-failed" || error.code === "store-closed";
}

/** The log does not end where it should, or is over. */
function isRefusal(error: unknown): boolean {
  return isStoreError(error) && (error.code === "out-of-sequence" || error.code === "run-over");
}

/** Whether these very events are the end of the log. */
async function isStored(store: Store, runId: string, events: EventBatch): Promise<boolean> {
  const last = events.at(-1);
  if (last === undefined) return true;
  const [stored, ...later] = await store.read(runId, { after: last.seq - 1, limit: 2 });
  return later.length === 0 && JSON.stringify(stored) === JSON.stringify(last);
}

/** Has the end of a log kept, and shows it to the readers. */
function rescueEnd(
  writer: Writer,
  why: string,
  {
    books,
    rescue,
    feed,
  }: { readonly books: ThreadRecorder | undefined; readonly rescue: Rescue; readonly feed: LiveTail },
): void {
  const events = endUnstored(writer.unstored(), why);
  const done = events.at(-1);
  if (done?.type !== "done") return;
  rescue.hold(events, books?.settle(done));
  feed.push(events);
}

/** Waits, whatever happens. */
function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
