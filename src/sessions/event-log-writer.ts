import { canMergeDeltas, mergeDeltas } from "#agents";
import { type AgentEvent, type DoneEvent, isDelta } from "#domain";
import { createDeferred, type Deferred, mergeNeighbours } from "#streams";
import { type EventBatch, type LiveTail, weigh } from "./live-tail.ts";
import type { Settlement } from "./stores/store.ts";

/** Events that may wait for an append before the run is paused. */
const WAITING_EVENTS = 1024;

/** Microtasks after which a source that has more to say would have said it, where there are no turns to wait for. */
const GATHER_TICKS = 10;

const DELTAS = { canMerge: canMergeDeltas, merge: mergeDeltas };

/** What is noted of a run while it goes on, for its thread. */
export interface ThreadRecorder {
  /** Sees every item, in order. */
  add(event: AgentEvent): void;
  /** The last events as they are to be stored, `done` at their end: whoever has ended the run says why. */
  end?(events: EventBatch): EventBatch;
  /** What goes into the thread together with `done`. */
  settle(done: DoneEvent): Settlement;
  /** Events were stored that weigh about so much. The next ones wait for it. */
  stored?(weight: number): Promise<void> | undefined;
}

/** Collects events and appends what has come while the last append was under way. */
export interface Writer {
  /** `undefined`: go on. A promise: too many wait. Rejects when the store does not take them; what is added is kept. */
  add(event: AgentEvent): Promise<void> | undefined;
  /** Resolves when everything is stored. */
  finish(): Promise<void>;
  /** After a failure: what is not stored, in order, neighbouring deltas merged. */
  unstored(): EventBatch;
}

export interface WriterOptions {
  readonly runId: string;
  readonly append: (runId: string, events: EventBatch, settlement: Settlement | undefined) => Promise<void>;
  readonly feed: LiveTail;
  readonly books: ThreadRecorder | undefined;
  readonly nextTurn: (() => Promise<void>) | undefined;
  /** Hears of the failure when it happens: a run that waits for somebody adds nothing by which it could find out. */
  readonly onFailure: (error: unknown) => void;
}

export function createWriter({ runId, append, feed, books, nextTurn, onFailure }: WriterOptions): Writer {
  let waiting: AgentEvent[] = [];
  /** Taken from `waiting`, and not stored yet. */
  let pending: AgentEvent[] = [];
  /** There while somebody waits for it. */
  let drained: Deferred<void> | undefined;
  let isWriting = false;
  let failure: { readonly error: unknown } | undefined;

  /**
   * Lets what comes in the same turn of the event loop come. A store in memory would otherwise be given, and every
   * reader sent, one event at a time; no time passes here.
   */
  const gather =
    nextTurn ??
    (async (): Promise<void> => {
      for (let seen = 0; seen < waiting.length && waiting.length < WAITING_EVENTS; ) {
        seen = waiting.length;
        for (let tick = 0; tick < GATHER_TICKS; tick += 1) await Promise.resolve();
      }
    });

  const drain = async (): Promise<void> => {
    isWriting = true;
    try {
      while (waiting.length > 0) {
        await gather();
        const arrived = waiting;
        pending = arrived;
        waiting = [];
        // What came in one breath is stored and sent in one piece: a delta that stands for its neighbours.
        if (arrived.length > 1) mergeNeighbours(arrived, { from: 0, end: arrived.length }, [], DELTAS);
        const isLast = arrived.at(-1)?.type === "done";
        const batch = isLast ? (books?.end?.(arrived) ?? arrived) : arrived;
        const last = batch.at(-1);
        await append(runId, batch, last?.type === "done" ? books?.settle(last) : undefined);
        pending = [];
        feed.push(batch);
        const wait = books?.stored?.(weigh(batch));
        if (wait !== undefined) await wait;
      }
    } catch (error) {
      failure = { error };
      onFailure(error);
    }
    isWriting = false;
    drained?.resolve();
    drained = undefined;
  };

  const whenDrained = async (): Promise<void> => {
    if (isWriting) await (drained ??= createDeferred<void>()).promise;
    if (failure !== undefined) throw failure.error;
  };

  return {
    add(event) {
      // Mostly there is one, and its list is kept as long as it: one that is grown has room for seventeen.
      if (waiting.length === 0) waiting = [event];
      else waiting.push(event);
      if (books !== undefined && !isDelta(event)) books.add(event);
      if (failure !== undefined) {
        if (waiting.length >= WAITING_EVENTS) pending = mergeAll(pending, waiting.splice(0));
        return whenDrained();
      }
      if (!isWriting) drain().catch(() => undefined);
      return waiting.length >= WAITING_EVENTS ? whenDrained() : undefined;
    },
    finish: whenDrained,
    unstored: () => (pending = mergeAll(pending, waiting.splice(0))),
  };
}

function mergeAll(earlier: readonly AgentEvent[], later: readonly AgentEvent[]): AgentEvent[] {
  const all = [...earlier, ...later];
  mergeNeighbours(all, { from: 0, end: all.length }, [], DELTAS);
  return all;
}

/**
 * Writes everything a run says. When the store fails: with `isRescued` the rest of the run is read all the same, and its
 * writer keeps it; without, the run is left. Rejects with the failure.
 */
export async function pump(run: AsyncIterable<AgentEvent>, writer: Writer, isRescued: boolean): Promise<void> {
  for await (const event of run) {
    const wait = writer.add(event);
    if (wait !== undefined) await (isRescued ? wait.catch(() => undefined) : wait);
  }
  await writer.finish();
}
