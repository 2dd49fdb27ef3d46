import { BroadcastReader } from "./broadcast-reader.ts";
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

/** Creates a broadcast. */
export function createBroadcast<T>(options: BroadcastOptions<T>): Broadcast<T> {
  return new BroadcastLog(options);
}

interface Listener<T> extends Place {
  active: boolean;
  readonly visit: (value: T) => void;
  readonly onError: (error: unknown) => void;
}

/** Merging walks over the values once; it waits for this many so that the walk is paid back. */
const MERGE_BATCH = 512;

/** A class, because it is called once per value: closures are optimised anew for every broadcast they serve. */
class BroadcastLog<T> implements Broadcast<T> {
  readonly #options: BroadcastOptions<T>;
  readonly #log: T[] = [];
  /** Everything before this position is as merged as it can be. */
  #mergedTo = 0;
  readonly #readers = new Set<BroadcastReader<T>>();
  readonly #listeners = new Set<Listener<T>>();
  #isClosed = false;
  #isHurried = false;
  #held: Deferred<void> | undefined;

  constructor(options: BroadcastOptions<T>) {
    this.#options = options;
  }

  push(values: readonly T[], weight: number): void {
    if (this.#isClosed || values.length === 0) return;
    for (const value of values) this.#log.push(value);
    for (const listener of this.#listeners) this.#deliver(listener);
    for (const reader of this.#readers) reader.notice(values.length, weight);
    if (this.#log.length - this.#mergedTo >= MERGE_BATCH) this.#merge();
  }

  room(): Promise<void> | undefined {
    if (this.#isClosed || this.#isHurried) return undefined;
    if (this.#held === undefined && this.#someReaderLags()) this.#held = createDeferred();
    return this.#held?.promise;
  }

  read(onLeave?: () => Promise<void>): AsyncIterableIterator<T, undefined> {
    return new BroadcastReader(this.#log, this.#options, {
      attach: (reader) => this.#readers.add(reader),
      leave: (reader) => {
        this.#readers.delete(reader);
        this.release();
      },
      caughtUp: () => this.release(),
      isClosed: () => this.#isClosed,
      onLeave,
    });
  }

  listen(visit: (value: T) => void, onError: (error: unknown) => void): () => void {
    const listener: Listener<T> = { index: 0, active: true, visit, onError };
    this.#listeners.add(listener);
    queueMicrotask(() => this.#deliver(listener));
    return () => {
      listener.active = false;
      this.#listeners.delete(listener);
    };
  }

  hurry(): void {
    this.#isHurried = true;
    this.release();
  }

  past(): Iterable<T> {
    return this.#log;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const reader of [...this.#readers]) reader.close();
    this.release();
  }

  /** Lets the writer go on if nobody lags any more. */
  release(): void {
    if (this.#held === undefined) return;
    if (!this.#isClosed && !this.#isHurried && this.#someReaderLags()) return;
    this.#held.resolve();
    this.#held = undefined;
  }

  #someReaderLags(): boolean {
    for (const reader of this.#readers) if (reader.lags) return true;
    return false;
  }

  #deliver(listener: Listener<T>): void {
    while (listener.active && listener.index < this.#log.length) {
      const value = this.#log[listener.index] as T;
      listener.index += 1;
      try {
        listener.visit(value);
      } catch (error) {
        listener.onError(error);
      }
    }
  }

  #merge(): void {
    let end = this.#log.length;
    for (const reader of this.#readers) if (!(this.#isHurried && reader.lags)) end = Math.min(end, reader.index);
    if (end - this.#mergedTo < MERGE_BATCH) return;
    const places = [...this.#readers, ...this.#listeners];
    this.#mergedTo = mergeNeighbours(this.#log, { from: this.#mergedTo, end }, places, this.#options);
  }
}
