import { type AgentEvent, isRecord } from "#domain";

/** Events from anywhere: a run, a stored log, an array. */
export type EventSource = Source<AgentEvent>;

/** Anything that can be read one after the other. */
export type Source<In> = AsyncIterable<In> | Iterable<In>;

/**
 * The synchronous heart of a view: one event in, the outputs it gives out, in order. Pure but for its own memory:
 * no clock, no I/O, never throws. One view serves one run.
 */
export interface View<Out, In = AgentEvent> {
  next(event: In): readonly Out[];
  /** The source is over. Gives the ending of the vocabulary when the run's `done` never came; otherwise nothing. */
  end(): readonly Out[];
}

/** What most events give in most views. Shared, so that an event without output costs no array. */
export const NOTHING: readonly never[] = [];

/**
 * Looks at a source through a view: lazily, one output per `next`.
 *
 * Leaving early closes the source, also while a `next` is waiting for it; a source that throws ends the iteration
 * with what it threw.
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
      // Outputs at hand are given without a detour; calls that overlap are answered in their order.
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

/** Tells our events from the words of a vocabulary, which may use the same `type`. */
export function isAgentEvent(value: unknown): value is AgentEvent {
  return isRecord(value) && typeof value["seq"] === "number" && typeof value["runId"] === "string";
}

function open<In>(source: Source<In>): AsyncIterator<In> | Iterator<In> {
  return Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
}
