import { createDeferred, type Deferred } from "./deferred.ts";
import type { Place } from "./merge-neighbours.ts";

/** What a reader needs of the broadcast it reads. */
export interface ReaderHome<T> {
  attach(reader: BroadcastReader<T>): void;
  leave(reader: BroadcastReader<T>): void;
  /** The reader lagged, and does so no more. */
  caughtUp(): void;
  isClosed(): boolean;
  readonly onLeave: (() => Promise<void>) | undefined;
}

/** How far a reader may fall behind before it lags. */
export interface ReaderLimits {
  readonly capacity: number;
  readonly maxWeight: number;
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** One reader of a broadcast: its place in the log, and the `next()` calls that wait for values. */
export class BroadcastReader<T> implements AsyncIterableIterator<T, undefined>, Place {
  index = 0;
  readonly #log: readonly T[];
  readonly #limits: ReaderLimits;
  readonly #home: ReaderHome<T>;
  /** Weight pushed since this reader was last level with the writer: never less than what it has not read. */
  #weight = 0;
  #isAttached = false;
  #hasLeft = false;
  #lagged = false;
  readonly #waiting: Deferred<IteratorResult<T, undefined>>[] = [];

  constructor(log: readonly T[], limits: ReaderLimits, home: ReaderHome<T>) {
    this.#log = log;
    this.#limits = limits;
    this.#home = home;
  }

  get lags(): boolean {
    const behind = this.#log.length - this.index;
    this.#lagged = behind >= this.#limits.capacity || (behind > 0 && this.#weight >= this.#limits.maxWeight);
    return this.#lagged;
  }

  /** Values were pushed: answers who waits, and notes how heavy the rest is. */
  notice(count: number, weight: number): void {
    this.#weight = this.index + count >= this.#log.length ? weight : this.#weight + weight;
    while (this.#waiting.length > 0 && this.index < this.#log.length) {
      const value = this.#log[this.index] as T;
      this.index += 1;
      this.#waiting.shift()?.resolve({ done: false, value });
    }
  }

  /** No further values: who waits is told so. */
  close(): void {
    if (this.#waiting.length > 0) this.#detach();
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.index < this.#log.length && !this.#hasLeft) {
      if (!this.#isAttached) this.#attach();
      const value = this.#log[this.index] as T;
      this.index += 1;
      // Looked at only by a reader that somebody waits for: every value read passes here.
      if (this.#lagged && !this.lags) this.#home.caughtUp();
      return Promise.resolve({ done: false, value });
    }
    if (this.#hasLeft || this.#home.isClosed()) {
      if (!this.#hasLeft) this.#detach();
      return Promise.resolve(END);
    }
    if (!this.#isAttached) this.#attach();
    const waiting = createDeferred<IteratorResult<T, undefined>>();
    this.#waiting.push(waiting);
    return waiting.promise;
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    if (!this.#hasLeft) {
      this.#detach();
      await this.#home.onLeave?.();
    }
    return END;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #attach(): void {
    this.#isAttached = true;
    this.#home.attach(this);
  }

  #detach(): void {
    this.#hasLeft = true;
    for (const waiting of this.#waiting.splice(0)) waiting.resolve(END);
    this.#home.leave(this);
  }
}
