import { createDeferred, type Deferred } from "./deferred.ts";
import { type Merging, mergeNeighbours, type Place } from "./merge-neighbours.ts";

/**
 * One stream to many readers, with a memory.
 *
 * Every reader and every listener gets every value from the first one on, in order, however late it comes. Values
 * that all attached readers are past may be merged with their neighbours, so that what is remembered for late
 * readers stays small. A writer that asks `room()` before it goes on is slowed down to the slowest attached reader.
 */
export interface Broadcast<T> {
  /**
   * Appends values and passes them to whoever is attached. `weight` is how heavy they are together. The array may be
   * reused by the caller afterwards.
   */
  push(values: readonly T[], weight: number): void;
  /** `undefined`: write on. A promise: a reader lags; it resolves when there is room again. Never rejects. */
  room(): Promise<void> | undefined;
  /** Attaches a reader at its first `next()`. Leaving (`return`) detaches it; `onLeave` then runs before `return` resolves. */
  read(onLeave?: () => Promise<void>): AsyncIterableIterator<T, undefined>;
  /**
   * Calls `visit` for every value from the first one on. The past is delivered in a microtask, so never inside this
   * call. What `visit` throws goes to `onError` and stops nobody. Returns a function that ends it.
   */
  listen(visit: (value: T) => void, onError: (error: unknown) => void): () => void;
  /** Somebody waits for the end: from now on a lagging reader no longer holds the writer back; its values are merged. */
  hurry(): void;
  /** What was pushed so far, as merged as it is. To be walked through at once: later pushes change it. */
  past(): Iterable<T>;
  /** No further values. Readers end after the last one. Idempotent. */
  close(): void;
}

export interface BroadcastOptions<T> extends Merging<T> {
  /** How many values a reader may lag behind before the writer is held back. */
  readonly capacity: number;
  /** How heavy the unread values of a reader may be before the writer is held back. */
  readonly maxWeight: number;
}

interface Reader<T> extends Place {
  /** Weight pushed since this reader was last level with the writer: never less than what it has not read. */
  weight: number;
  readonly waiting: Deferred<IteratorResult<T, undefined>>[];
}

interface Listener<T> extends Place {
  active: boolean;
  readonly visit: (value: T) => void;
  readonly onError: (error: unknown) => void;
}

/** Merging walks over the values once; it waits for this many so that the walk is paid back. */
const MERGE_BATCH = 512;

/** Creates a broadcast. */
export function createBroadcast<T>(options: BroadcastOptions<T>): Broadcast<T> {
  const { capacity, maxWeight } = options;
  const log: T[] = [];
  /** Everything before this position is as merged as it can be. */
  let mergedTo = 0;
  const readers = new Set<Reader<T>>();
  const listeners = new Set<Listener<T>>();
  let closed = false;
  let hurried = false;
  let held: Deferred<void> | undefined;

  const lags = (reader: Reader<T>): boolean =>
    log.length - reader.index >= capacity || (reader.weight >= maxWeight && reader.index < log.length);

  const release = (): void => {
    if (held === undefined) return;
    if (!closed && !hurried) for (const reader of readers) if (lags(reader)) return;
    held.resolve();
    held = undefined;
  };

  const deliver = (listener: Listener<T>): void => {
    while (listener.active && listener.index < log.length) {
      const value = log[listener.index] as T;
      listener.index += 1;
      try {
        listener.visit(value);
      } catch (error) {
        listener.onError(error);
      }
    }
  };

  /** Notes what every reader has not read yet, and answers those that wait. */
  const passOn = (count: number, weight: number): void => {
    for (const reader of readers) {
      reader.weight = reader.index + count >= log.length ? weight : reader.weight + weight;
      while (reader.waiting.length > 0 && reader.index < log.length) {
        const value = log[reader.index] as T;
        reader.index += 1;
        reader.waiting.shift()?.resolve({ done: false, value });
      }
    }
  };

  const mergeIfWorthIt = (): void => {
    if (log.length - mergedTo < MERGE_BATCH) return;
    let end = log.length;
    for (const reader of readers) if (!(hurried && lags(reader))) end = Math.min(end, reader.index);
    if (end - mergedTo < MERGE_BATCH) return;
    mergedTo = mergeNeighbours(log, { from: mergedTo, end }, [...readers, ...listeners], options);
  };

  return {
    push(values, weight) {
      if (closed || values.length === 0) return;
      for (const value of values) log.push(value);
      for (const listener of listeners) deliver(listener);
      if (readers.size > 0) passOn(values.length, weight);
      mergeIfWorthIt();
    },

    room() {
      if (closed || hurried) return undefined;
      if (held !== undefined) return held.promise;
      for (const reader of readers) {
        if (lags(reader)) {
          held = createDeferred();
          return held.promise;
        }
      }
      return undefined;
    },

    read(onLeave) {
      const reader: Reader<T> = { index: 0, weight: 0, waiting: [] };
      let attached = false;
      let left = false;
      const end: IteratorReturnResult<undefined> = { done: true, value: undefined };
      const detach = (): void => {
        left = true;
        readers.delete(reader);
        for (const waiting of reader.waiting.splice(0)) waiting.resolve(end);
        release();
      };
      return {
        next() {
          if (left) return Promise.resolve(end);
          if (!attached) {
            attached = true;
            readers.add(reader);
          }
          if (reader.index < log.length) {
            const value = log[reader.index] as T;
            reader.index += 1;
            // Looked at for this reader first: while the writer waits, every value read passes here.
            if (held !== undefined && !lags(reader)) release();
            return Promise.resolve({ done: false, value });
          }
          if (closed) {
            detach();
            return Promise.resolve(end);
          }
          const waiting = createDeferred<IteratorResult<T, undefined>>();
          reader.waiting.push(waiting);
          return waiting.promise;
        },
        async return() {
          if (!left) {
            detach();
            await onLeave?.();
          }
          return end;
        },
        [Symbol.asyncIterator]() {
          return this;
        },
      };
    },

    listen(visit, onError) {
      const listener: Listener<T> = { index: 0, active: true, visit, onError };
      listeners.add(listener);
      queueMicrotask(() => deliver(listener));
      return () => {
        listener.active = false;
        listeners.delete(listener);
      };
    },

    hurry() {
      hurried = true;
      release();
    },

    past: () => log,

    close() {
      if (closed) return;
      closed = true;
      for (const reader of [...readers]) {
        if (reader.waiting.length === 0) continue;
        readers.delete(reader);
        for (const waiting of reader.waiting.splice(0)) waiting.resolve({ done: true, value: undefined });
      }
      release();
    },
  };
}
