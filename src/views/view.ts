import { type AgentEvent, isRecord } from "#domain";

/** Events from anywhere: a run, a stored log, an array. */
export type EventSource = Source<AgentEvent>;

/** Any iterable, synchronous or asynchronous. */
export type Source<In> = AsyncIterable<In> | Iterable<In>;

/**
 * The synchronous core of a view: one event in, its outputs out, in order. Pure except for its own state: no clock, no
 * I/O, never throws. One view is for one run.
 */
export interface View<Out, In = AgentEvent> {
  next(event: In): readonly Out[];
  /** The source is over. Returns the ending of the vocabulary if the run's `done` never arrived; otherwise nothing. */
  end(): readonly Out[];
}

/** The output of most events in most views. Shared, so that an event without output allocates no array. */
export const NOTHING: readonly never[] = [];

/**
 * Applies a view to a source: lazily, one output per `next`.
 *
 * Leaving early closes the source, even while a `next` is pending; if the source throws, the iteration ends with that
 * error.
 */
export function applyView<In, Out>(source: Source<In>, view: View<Out, In>): AsyncIterableIterator<Out> {
  let events: AsyncIterator<In> | Iterator<In> | undefined;
  let ready: readonly Out[] = NOTHING;
  let taken = 0;
  let over = false;
  let waiting = 0;
  let last: Promise<IteratorResult<Out>> | undefined;

  const close = async (): Promise<void> => {
    over = true;
    ready = NOTHING;
    await events?.return?.();
  };

  const refill = async (): Promise<void> => {
    events ??= open(source);
    let step: IteratorResult<In>;
    try {
      step = await events.next();
    } catch (thrown) {
      over = true;
      throw thrown;
    }
    if (over) return;
    taken = 0;
    if (step.done === true) {
      over = true;
      ready = view.end();
      return;
    }
    try {
      ready = view.next(step.value);
    } catch (thrown) {
      await close();
      throw thrown;
    }
  };

  const pull = async (): Promise<IteratorResult<Out>> => {
    try {
      while (taken >= ready.length && !over) await refill();
      if (taken >= ready.length) return { done: true, value: undefined };
      return { done: false, value: ready[taken++] as Out };
    } finally {
      waiting -= 1;
    }
  };

  return {
    next() {
      // Available outputs are returned directly; overlapping calls are answered in order.
      if (waiting === 0 && taken < ready.length) {
        return Promise.resolve({ done: false, value: ready[taken++] as Out });
      }
      waiting += 1;
      last = waiting === 1 || last === undefined ? pull() : last.then(pull, pull);
      return last;
    },
    async return() {
      await close();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Distinguishes our events from entries of a vocabulary, which may use the same `type`. */
export function isAgentEvent(value: unknown): value is AgentEvent {
  return isRecord(value) && typeof value["seq"] === "number" && typeof value["runId"] === "string";
}

function open<In>(source: Source<In>): AsyncIterator<In> | Iterator<In> {
  return Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
}
