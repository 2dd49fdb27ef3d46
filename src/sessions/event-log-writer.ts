import { canMergeDeltas, mergeDeltas, type StoredMark } from "#run";
import { type AgentEvent, type DoneEvent, isDelta } from "#domain";
import { createDeferred, type Deferred, mergeNeighbours } from "#streams";
import { type EventBatch, type LiveTail, weigh } from "./live-tail.ts";
import type { Settlement } from "./stores/store.ts";

/** How many events may wait for an append before the run is paused. */
const WAITING_EVENTS = 1024;

/**
 * The number of microtasks after which a source with more events would have delivered them, if there is no `nextTurn`.
 */
const GATHER_TICKS = 10;

const DELTAS = { canMerge: canMergeDeltas, merge: mergeDeltas };

/** What is recorded of a run for its thread. */
export interface ThreadRecorder {
  /** Receives every item, in order. */
  add(event: AgentEvent): void;
  /**
   * The last events as they are to be stored, ending with `done`: they may be replaced to state why the run was ended.
   */
  end?(events: EventBatch): EventBatch;
  /** What is added to the thread together with `done`. */
  settle(done: DoneEvent): Settlement;
  /** Events of about this weight were stored. The next ones wait for the returned promise. */
  stored?(weight: number): Promise<void> | undefined;
}

/** Collects events and appends those that arrived while the last append was in progress. */
export interface Writer {
  /**
   * `undefined`: go on. A promise: too many events wait. Rejects when the store does not accept them; added events are
   * kept.
   */
  add(event: AgentEvent): Promise<void> | undefined;
  /** Resolves when everything is stored. */
  finish(): Promise<void>;
  /** After a failure: the events that are not stored, in order, with neighbouring deltas merged. */
  unstored(): EventBatch;
}

export interface WriterOptions {
  readonly runId: string;
  readonly append: (runId: string, events: EventBatch, settlement: Settlement | undefined) => Promise<void>;
  readonly tail: LiveTail;
  readonly recorder: ThreadRecorder | undefined;
  readonly nextTurn: (() => Promise<void>) | undefined;
  /** Advanced with every append, for a run that waits for its log. */
  readonly stored?: StoredMark | undefined;
  /**
   * Called as soon as a failure happens: a run that waits for a person adds no event through which it could find out.
   */
  readonly onFailure: (error: unknown) => void;
}

export function createWriter({ runId, append, tail, recorder, nextTurn, stored, onFailure }: WriterOptions): Writer {
  let waiting: AgentEvent[] = [];
  /** Taken from `waiting`, and not stored yet. */
  let pending: AgentEvent[] = [];
  /** Exists while someone waits for it. */
  let drained: Deferred<void> | undefined;
  let isWriting = false;
  let failure: { readonly error: unknown } | undefined;

  /**
   * Waits for the other events of the same turn of the event loop. Otherwise a store in memory would receive, and every
   * reader be sent, one event at a time; no time passes here.
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
        // Events that arrived together are stored and sent together: neighbouring deltas are merged into one.
        if (arrived.length > 1) mergeNeighbours(arrived, { from: 0, end: arrived.length }, [], DELTAS);
        const isLast = arrived.at(-1)?.type === "done";
        const batch = isLast ? (recorder?.end?.(arrived) ?? arrived) : arrived;
        const last = batch.at(-1);
        await append(runId, batch, last?.type === "done" ? recorder?.settle(last) : undefined);
        pending = [];
        if (last !== undefined) stored?.advance(last.seq);
        tail.push(batch);
        const wait = recorder?.stored?.(weigh(batch));
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
      // Usually there is one event, and the array lives as long as it: an array that has grown has room for seventeen.
      if (waiting.length === 0) waiting = [event];
      else waiting.push(event);
      if (recorder !== undefined && !isDelta(event)) recorder.add(event);
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
 * Writes all events of a run. If the store fails: with `isRescued`, the rest of the run is still read and kept in its
 * writer; without, reading stops. Rejects with the failure.
 */
export async function pump(run: AsyncIterable<AgentEvent>, writer: Writer, isRescued: boolean): Promise<void> {
  for await (const event of run) {
    const wait = writer.add(event);
    if (wait !== undefined) await (isRescued ? wait.catch(() => undefined) : wait);
  }
  await writer.finish();
}
