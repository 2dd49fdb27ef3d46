import { BroadcastReader } from "./broadcast-reader.ts";
import { createDeferred, type Deferred } from "./deferred.ts";
import { type Merging, mergeNeighbours, type ReadPosition } from "./merge-neighbours.ts";

/**
 * One stream with many readers, and a log.
 *
 * Every reader and every listener receives every value from the first one on, in order, however late it attaches.
 * Values that all attached readers have passed may be merged with their neighbours, so that the log for late readers
 * stays small. A writer that calls `room()` before it goes on is slowed down to the slowest attached reader.
 */
export interface Broadcast<T> {
  /**
   * Appends values and passes them to attached readers and listeners. `weight` is the weight of all of them. The caller
   * may reuse the array afterwards.
   */
  push(values: readonly T[], weight: number): void;
  /** `undefined`: go on writing. A promise: a reader lags; it resolves when there is room again. Never rejects. */
  room(): Promise<void> | undefined;
  /** Attaches a reader at its first `next()`. `return` detaches it; `onLeave` then runs before `return` resolves. */
  read(onLeave?: () => Promise<void>): AsyncIterableIterator<T, undefined>;
  /**
   * Calls `visit` for every value from the first one on. Past values are delivered in a microtask, so never during this
   * call. Exceptions in `visit` go to `onError` and have no other effect. Returns a function that ends it.
   */
  listen(visit: (value: T) => void, onError: (error: unknown) => void): () => void;
  /** The end is awaited: from now on a lagging reader no longer holds the writer back; its values are merged. */
  hurry(): void;
  /** The values pushed so far, in their merged form. Iterate over it at once: later pushes change it. */
  past(): Iterable<T>;
  /** Replaces every value pushed so far, for readers that have not received it yet. */
  replace(change: (value: T) => T): void;
  /** No further values follow. Readers end after the last one. Idempotent. */
  close(): void;
}

export interface BroadcastOptions<T> extends Merging<T> {
  /** How many values a reader may lag behind before the writer is held back. */
  readonly capacity: number;
  /** How much weight a reader may leave unread before the writer is held back. */
  readonly maxWeight: number;
}

/** Creates a broadcast. */
export function createBroadcast<T>(options: BroadcastOptions<T>): Broadcast<T> {
  return new BroadcastLog(options);
}

interface Listener<T> extends ReadPosition {
  active: boolean;
  readonly visit: (value: T) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Merging passes over the values once, so it is done only after enough values have accumulated. A short stream merges
 * after fewer: there may be a thousand of them, and their logs are most of their memory.
 */
const MERGE_BATCH = { least: 32, most: 512, part: 16 } as const;

/** A separate function: code that runs once per value stays small, so that V8 optimises it quickly. */
function append<T>(log: T[], values: readonly T[]): void {
  for (let index = 0; index < values.length; index += 1) log.push(values[index] as T);
}

/** A class because it is called once per value, and V8 would optimise closures anew for every broadcast. */
class BroadcastLog<T> implements Broadcast<T> {
  private readonly _options: BroadcastOptions<T>;
  private readonly _log: T[] = [];
  /** Everything before this position is merged as far as possible. */
  private _mergedTo = 0;
  private _mergeBatch: number = MERGE_BATCH.least;
  private _pushed = 0;
  private readonly _readers = new Set<BroadcastReader<T>>();
  private readonly _listeners = new Set<Listener<T>>();
  private _isClosed = false;
  private _isHurried = false;
  private _held: Deferred<void> | undefined;

  constructor(options: BroadcastOptions<T>) {
    this._options = options;
  }

  push(values: readonly T[], weight: number): void {
    if (this._isClosed || values.length === 0) return;
    append(this._log, values);
    for (const listener of this._listeners) this._deliver(listener);
    for (const reader of this._readers) reader.notice(values.length, weight);
    this._pushed += values.length;
    if (this._log.length - this._mergedTo >= this._mergeBatch) this._merge();
  }

  room(): Promise<void> | undefined {
    if (this._isClosed || this._isHurried) return undefined;
    if (this._held === undefined && this._someReaderLags()) this._held = createDeferred();
    return this._held?.promise;
  }

  read(onLeave?: () => Promise<void>): AsyncIterableIterator<T, undefined> {
    return new BroadcastReader(this._log, this._options, {
      attach: (reader) => this._readers.add(reader),
      leave: (reader) => {
        this._readers.delete(reader);
        this.release();
      },
      caughtUp: () => this.release(),
      isClosed: () => this._isClosed,
      onLeave,
    });
  }

  listen(visit: (value: T) => void, onError: (error: unknown) => void): () => void {
    const listener: Listener<T> = { index: 0, active: true, visit, onError };
    this._listeners.add(listener);
    queueMicrotask(() => this._deliver(listener));
    return () => {
      listener.active = false;
      this._listeners.delete(listener);
    };
  }

  hurry(): void {
    this._isHurried = true;
    this.release();
  }

  past(): Iterable<T> {
    return this._log;
  }

  replace(change: (value: T) => T): void {
    for (let at = 0; at < this._log.length; at += 1) this._log[at] = change(this._log[at] as T);
  }

  close(): void {
    if (this._isClosed) return;
    this._isClosed = true;
    for (const reader of [...this._readers]) reader.close();
    this.release();
  }

  /** Lets the writer go on if no reader lags any more. */
  release(): void {
    if (this._held === undefined) return;
    if (!this._isClosed && !this._isHurried && this._someReaderLags()) return;
    this._held.resolve();
    this._held = undefined;
  }

  private _someReaderLags(): boolean {
    for (const reader of this._readers) if (reader.lags) return true;
    return false;
  }

  private _deliver(listener: Listener<T>): void {
    while (listener.active && listener.index < this._log.length) {
      const value = this._log[listener.index] as T;
      listener.index += 1;
      try {
        listener.visit(value);
      } catch (error) {
        listener.onError(error);
      }
    }
  }

  private _merge(): void {
    let end = this._log.length;
    for (const reader of this._readers) if (!(this._isHurried && reader.lags)) end = Math.min(end, reader.index);
    if (end - this._mergedTo < this._mergeBatch) return;
    const positions = [...this._readers, ...this._listeners];
    this._mergedTo = mergeNeighbours(this._log, { from: this._mergedTo, end }, positions, this._options);
    this._mergeBatch = Math.min(MERGE_BATCH.most, Math.max(MERGE_BATCH.least, this._pushed / MERGE_BATCH.part));
  }
}
