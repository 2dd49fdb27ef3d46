import { createDeferred, type Deferred } from "./deferred.ts";
import type { ReadPosition } from "./merge-neighbours.ts";

/** The parts of a broadcast that its reader needs. */
export interface BroadcastSource<T> {
  attach(reader: BroadcastReader<T>): void;
  leave(reader: BroadcastReader<T>): void;
  /** The reader was lagging and has caught up. */
  caughtUp(): void;
  isClosed(): boolean;
  readonly onLeave: (() => Promise<void>) | undefined;
}

/** How far a reader may fall behind before it counts as lagging. */
export interface ReaderLimits {
  readonly capacity: number;
  readonly maxWeight: number;
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** One reader of a broadcast: its position in the log, and the pending `next()` calls. */
export class BroadcastReader<T> implements AsyncIterableIterator<T, undefined>, ReadPosition {
  index = 0;
  private readonly _log: readonly T[];
  private readonly _limits: ReaderLimits;
  private readonly _home: BroadcastSource<T>;
  /** The weight pushed since this reader was last level with the writer: never less than the weight it has not read. */
  private _weight = 0;
  private _isAttached = false;
  private _hasLeft = false;
  private _lagged = false;
  private readonly _waiting: Deferred<IteratorResult<T, undefined>>[] = [];

  constructor(log: readonly T[], limits: ReaderLimits, home: BroadcastSource<T>) {
    this._log = log;
    this._limits = limits;
    this._home = home;
  }

  get lags(): boolean {
    const behind = this._log.length - this.index;
    this._lagged = behind >= this._limits.capacity || (behind > 0 && this._weight >= this._limits.maxWeight);
    return this._lagged;
  }

  /** Values were pushed: resolves pending reads and records the weight of the rest. */
  notice(count: number, weight: number): void {
    this._weight = this.index + count >= this._log.length ? weight : this._weight + weight;
    while (this._waiting.length > 0 && this.index < this._log.length) {
      const value = this._log[this.index] as T;
      this.index += 1;
      this._waiting.shift()?.resolve({ done: false, value });
    }
  }

  /** No further values: ends pending reads. */
  close(): void {
    if (this._waiting.length > 0) this._detach();
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.index < this._log.length && !this._hasLeft) {
      if (!this._isAttached) this._attach();
      const value = this._log[this.index] as T;
      this.index += 1;
      // Checked only for a reader that the writer waits for, because every value that is read passes here.
      if (this._lagged && !this.lags) this._home.caughtUp();
      return Promise.resolve({ done: false, value });
    }
    if (this._hasLeft || this._home.isClosed()) {
      if (!this._hasLeft) this._detach();
      return Promise.resolve(END);
    }
    if (!this._isAttached) this._attach();
    const waiting = createDeferred<IteratorResult<T, undefined>>();
    this._waiting.push(waiting);
    return waiting.promise;
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    if (!this._hasLeft) {
      this._detach();
      await this._home.onLeave?.();
    }
    return END;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private _attach(): void {
    this._isAttached = true;
    this._home.attach(this);
  }

  private _detach(): void {
    this._hasLeft = true;
    for (const waiting of this._waiting.splice(0)) waiting.resolve(END);
    this._home.leave(this);
  }
}
