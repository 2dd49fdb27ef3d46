import { type AgentEvent, type Clock, describeThrown, isDelta } from "#domain";
import type { StoredMark } from "#run";
import { type EventBatch, LiveTail } from "./live-tail.ts";
import { LogReader, type LogSource } from "./event-log-reader.ts";
import { SharedReads } from "./shared-reads.ts";
import { createWriter, pump, type ThreadRecorder, type Writer } from "./event-log-writer.ts";
import { endUnstored } from "./unstored-end.ts";
import type { Settlement, Store } from "./stores/store.ts";
import { isStoreError, StoreError } from "./stores/store-error.ts";

export interface EventLogOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Resolves in the next turn of the event loop; events that arrive until then are stored together. */
  readonly nextTurn?: (() => Promise<void>) | undefined;
}

/** The parts of a run that its log needs. */
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
 * A reader sees an event only after the store has acknowledged it. Over all its connections it receives the log from
 * its first cursor on: nothing lost, nothing twice, nothing out of order.
 */
export interface EventLog {
  /**
   * Writes a run's events until its `done` is stored; the run must exist in the store. Events that arrive during an
   * append go into the next one.
   *
   * Never rejects: resolves to `undefined` when all is stored, otherwise to the reason why the store refused. In that
   * case `onStoreFailure` keeps the rest, and readers receive it at once, so that a run does not seem to go on for ever
   * because of a disk.
   */
  write(run: LoggedRun, how?: LogWriteOptions): Promise<string | undefined>;
  /** The events after a cursor in batches, until `done`, the end of the log's writer, or the signal. */
  follow(runId: string, options?: FollowOptions): AsyncIterableIterator<EventBatch>;
}

/** What else happens while a run is written to its log. */
export interface LogWriteOptions {
  /** Determines what is added to the thread together with `done`. */
  readonly recorder?: ThreadRecorder | undefined;
  readonly onStoreFailure?: StoreFailureHandler | undefined;
  /** What the run waits for before something takes effect. */
  readonly stored?: StoredMark | undefined;
  /** The number of the last event that is stored already, for a run that continues. Default -1: none. */
  readonly after?: number | undefined;
  /** The claim of the run, if nodes share the store. */
  readonly claim?: WriterClaim | undefined;
}

/** The claim of the node that writes a run. */
export interface WriterClaim {
  readonly epoch: number;
  /** Nothing is written after it fires. Until then, a store that does not answer is asked again and again. */
  readonly lost: AbortSignal;
}

/** What happens to a run whose events cannot be stored. */
export interface StoreFailureHandler {
  /** Ends the run, because it cannot go on. */
  stop(why: string): void;
  /** Keeps the end of the log until it can be stored, together with `settlement`. Then it is shown. Must not reject. */
  hold(events: EventBatch, settlement: Settlement | undefined): Promise<void> | void;
}

/** The delays between attempts on a failing disk; after the last one the run cannot go on. */
const RETRY_MS = [50, 500, 2000] as const;

/** How much of all active runs is kept in memory for their readers; a reader that lags further reads the store. */
const TAIL_WEIGHTS = { all: 32 * 1_048_576, most: 1_048_576, least: 32_768 } as const;

/** Creates the event log over a store. */
export function createEventLog(options: EventLogOptions): EventLog {
  const { store, clock } = options;
  const tails = new Map<string, LiveTail>();
  /** Readers by run; some may attach before the writer does. */
  const readers = new Map<string, Set<LogReader>>();

  /** An equal share for each, so that a thousand runs do not hold a thousand times as much as one. */
  const tailWeight = (): number =>
    Math.max(TAIL_WEIGHTS.least, Math.min(TAIL_WEIGHTS.most, TAIL_WEIGHTS.all / tails.size));

  /** `again`: an earlier attempt failed. */
  const appendOnce = async (
    runId: string,
    events: EventBatch,
    settlement: Settlement | undefined,
    { epoch, again }: { readonly epoch: number | undefined; readonly again: boolean },
  ): Promise<void> => {
    try {
      await store.append(runId, events, settlement, epoch);
    } catch (error) {
      // The earlier attempt succeeded and only its acknowledgement was lost, which a store on another machine cannot
      // prevent.
      if (!again || !isRefusal(error) || !(await isStored(store, runId, events))) throw error;
    }
  };

  const append = async (
    runId: string,
    events: EventBatch,
    settlement: Settlement | undefined,
    claim: WriterClaim | undefined,
  ): Promise<void> => {
    for (let attempt = 0; ; attempt += 1) {
      if (claim?.lost.aborted === true) throw new StoreError("claim-lost", `Run ${runId} is held by another node.`);
      try {
        await appendOnce(runId, events, settlement, { epoch: claim?.epoch, again: attempt > 0 });
        return;
      } catch (error) {
        const last = claim === undefined ? undefined : RETRY_MS.at(-1);
        const wait = isStoreError(error) && error.code === "store-failed" ? (RETRY_MS[attempt] ?? last) : undefined;
        if (wait === undefined) throw error;
        await pause(clock, wait, claim?.lost);
      }
    }
  };

  const home: LogSource = {
    store,
    reads: new SharedReads(store),
    clock,
    tailOf: (runId) => tails.get(runId),
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

  // For as long as the store is open.
  store.watch?.((runId) => {
    const told = runId === undefined ? [...readers.values()] : [readers.get(runId) ?? []];
    for (const some of told) for (const reader of some) reader.meetWriter();
  });

  return {
    async write(run, { recorder, onStoreFailure, stored, after = -1, claim } = {}) {
      const tail = new LiveTail({ maxWeight: tailWeight, readers: () => readers.get(run.id)?.size ?? 0 });
      tails.set(run.id, tail);
      for (const reader of readers.get(run.id) ?? []) reader.meetWriter();
      const onFailure = (error: unknown): void => onStoreFailure?.stop(describeThrown(error));
      const writer = createWriter({
        runId: run.id,
        append: (id, events, settlement) => append(id, events, settlement, claim),
        tail,
        recorder,
        nextTurn: options.nextTurn,
        stored,
        onFailure,
      });
      let goesOn = false;
      try {
        stored?.advance(after);
        await pump(after < 0 ? run : skipStored(run, after, recorder), writer, onStoreFailure !== undefined);
        return undefined;
      } catch (error) {
        goesOn = claim !== undefined;
        // A run with a claim goes on at another node: an end that is not stored would be a wrong one.
        if (!goesOn && onStoreFailure !== undefined && isOfTheDisk(error))
          await keepEnd(writer, describeThrown(error), { recorder, onStoreFailure, tail });
        return describeThrown(error);
      } finally {
        stored?.end();
        tails.delete(run.id);
        tail.end(goesOn);
      }
    },
    follow: (runId, { after = -1, signal } = {}) => new LogReader(runId, after, signal, home),
  };
}

/** The events that are not stored yet. The recorder receive all of them. */
async function* skipStored(
  run: AsyncIterable<AgentEvent>,
  after: number,
  recorder: ThreadRecorder | undefined,
): AsyncGenerator<AgentEvent, undefined> {
  for await (const event of run) {
    if (event.seq > after) yield event;
    else if (!isDelta(event)) recorder?.add(event);
  }
  return undefined;
}

/** Whether the store could not write the events. Otherwise it refused them, and its log is authoritative. */
function isOfTheDisk(error: unknown): boolean {
  return !isStoreError(error) || error.code === "store-failed" || error.code === "store-closed";
}

/** The log does not end where it should, or is closed. */
function isRefusal(error: unknown): boolean {
  return isStoreError(error) && (error.code === "out-of-sequence" || error.code === "run-over");
}

/** Whether exactly these events are the end of the log. */
async function isStored(store: Store, runId: string, events: EventBatch): Promise<boolean> {
  const last = events.at(-1);
  if (last === undefined) return true;
  const [stored, ...later] = await store.read(runId, { after: last.seq - 1, limit: 2 });
  return later.length === 0 && JSON.stringify(stored) === JSON.stringify(last);
}

/** Passes the end of a log to the failure handler, and shows it to the readers. */
async function keepEnd(
  writer: Writer,
  why: string,
  {
    recorder,
    onStoreFailure,
    tail,
  }: {
    readonly recorder: ThreadRecorder | undefined;
    readonly onStoreFailure: StoreFailureHandler;
    readonly tail: LiveTail;
  },
): Promise<void> {
  const events = endUnstored(writer.unstored(), why);
  const done = events.at(-1);
  if (done?.type !== "done") return;
  await onStoreFailure.hold(events, recorder?.settle(done));
  tail.push(events);
}

/** Waits, at most until the signal fires. */
function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      takeBack();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const takeBack = clock.after(ms, end);
    signal?.addEventListener("abort", end);
  });
}
