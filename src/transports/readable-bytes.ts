import type { Readable } from "node:stream";
import { createDeferred, type Deferred } from "#streams";

/** The bytes of a Node stream, for one reader. */
export interface ReadableBytes extends AsyncIterable<Uint8Array> {
  /**
   * `idle`: reading has not begun. `waiting`: a read is pending. `busy`: bytes are ready to be read. `over`: the stream
   * has ended.
   */
  readonly state: "idle" | "waiting" | "busy" | "over";
  /** How many bytes have arrived so far. */
  readonly receivedBytes: number;
  /** Closes the stream. The reader still receives what has arrived, then the end. */
  destroy(): void;
}

/** The size of one full socket read. Pieces that have arrived are joined up to this size. */
const JOINED_BYTES = 65_536;

/** Two full pipe reads: the next one can arrive while the reader processes the last. */
const HELD_BYTES = 2 * JOINED_BYTES;

/**
 * How many bytes are taken before other work has its turn. Node may deliver two megabytes in one turn of the event loop,
 * and decoding a line that is JSON with very many members takes 50 ms for that much.
 */
const TURN_BYTES = 2 * JOINED_BYTES;

type Taken = IteratorResult<Uint8Array, undefined>;

/** Never written to. */
const NO_BYTES: Uint8Array[] = [];

const END: Taken = { done: true, value: undefined };

/**
 * Reads a stream by its `data` events, with pause and resume as back-pressure. Small pieces that have arrived together
 * are returned as one read: a host that sends each event in its own HTTP chunk often sends twenty at once, and each
 * read costs about as much as processing the few events in one piece.
 *
 * Node's own iterator copies the buffered data into one buffer and costs about a tenth more on a bare drain. Listening
 * begins at once, because Node discards what an exited process left in its pipe if there is no listener. Leaving the
 * loop closes the stream. If the stream breaks, the reader receives what has arrived, then one error, which `explain`
 * may replace.
 */
export function readBytes(stream: Readable, explain: (error: Error) => unknown = (error) => error): ReadableBytes {
  return new ByteReader(stream, explain);
}

/**
 * A class, because hundreds of streams may be open at once and each one's objects are work for the garbage collector.
 */
class ByteReader implements ReadableBytes, AsyncIterator<Uint8Array, undefined> {
  private readonly _stream: Readable;
  private readonly _explain: (error: Error) => unknown;
  /**
   * A new array for each batch: an array created in advance would be in the old generation by the time it is used, and
   * its contents would survive until the next full collection.
   */
  private _queue: Uint8Array[] = NO_BYTES;
  private _head = 0;
  private _held = 0;
  private _receivedBytes = 0;
  /** The value of `_receivedBytes` when the last turn began. */
  private _turnAt = 0;
  /** No more is taken in this turn of the event loop. */
  private _isTurnOver = false;
  private _isOver = false;
  private _failure: { readonly error: unknown } | undefined;
  private _isRead = false;
  private _isPaused = false;
  private readonly _waiting: Deferred<Taken>[] = [];

  constructor(stream: Readable, explain: (error: Error) => unknown) {
    this._stream = stream;
    this._explain = explain;
    stream.on("data", (bytes: Uint8Array) => this._take(bytes));
    const finish = (): void => this._finish();
    stream.on("end", finish);
    stream.on("error", (error: Error) => this._finish(error));
    stream.on("close", finish);
  }

  get state(): ReadableBytes["state"] {
    if (this._isOver) return "over";
    if (!this._isRead) return "idle";
    return this._head < this._queue.length ? "busy" : "waiting";
  }

  get receivedBytes(): number {
    return this._receivedBytes;
  }

  destroy(): void {
    this._finish();
    this._stream.destroy();
  }

  [Symbol.asyncIterator](): this {
    if (this._isRead) throw new TypeError("This stream is being read already. It has one reader.");
    this._isRead = true;
    return this;
  }

  next(): Promise<Taken> {
    if (this._head < this._queue.length) return Promise.resolve({ done: false, value: this._join() });
    if (this._failure !== undefined) return Promise.reject(this._takeFailure());
    if (this._isOver) return Promise.resolve(END);
    const reader = createDeferred<Taken>();
    this._waiting.push(reader);
    return reader.promise;
  }

  return(): Promise<Taken> {
    this._queue = NO_BYTES;
    this._head = 0;
    this._held = 0;
    this.destroy();
    return Promise.resolve(END);
  }

  private _take(bytes: Uint8Array): void {
    this._receivedBytes += bytes.length;
    if (this._queue.length === 0) {
      this._queue = [bytes];
      // Deferred: all pieces of one socket read arrive before the microtask runs.
      if (this._waiting.length > 0) queueMicrotask(() => this._serve());
    } else this._queue.push(bytes);
    this._held += bytes.length;
    if (!this._isTurnOver && this._receivedBytes - this._turnAt >= TURN_BYTES) this._endTurn();
    // On every piece, not only once: Node itself resumes a child's streams when the child exits.
    if (this._held < HELD_BYTES) return;
    this._isPaused = true;
    this._stream.pause();
  }

  private _endTurn(): void {
    this._isTurnOver = true;
    this._stream.pause();
    setImmediate(() => {
      this._isTurnOver = false;
      this._turnAt = this._receivedBytes;
      if (!this._isPaused && !this._isOver) this._stream.resume();
    });
  }

  /** Resolves pending reads with what has arrived. */
  private _serve(): void {
    while (this._head < this._queue.length) {
      const reader = this._waiting.shift();
      if (reader === undefined) return;
      reader.resolve({ done: false, value: this._join() });
    }
  }

  /** Takes the next piece, and those after it while their total is no more than one full read. */
  private _join(): Uint8Array {
    const queue = this._queue;
    const first = this._head;
    let length = (queue[first] as Uint8Array).length;
    let end = first + 1;
    for (; end < queue.length && length + (queue[end] as Uint8Array).length <= JOINED_BYTES; end += 1) {
      length += (queue[end] as Uint8Array).length;
    }
    const joined = end === first + 1 ? (queue[first] as Uint8Array) : Buffer.concat(queue.slice(first, end), length);
    this._release(end, length);
    return joined;
  }

  private _release(head: number, length: number): void {
    this._head = head;
    this._held -= length;
    if (head === this._queue.length) {
      this._queue = NO_BYTES;
      this._head = 0;
    }
    if (this._isPaused && this._held < HELD_BYTES / 2) {
      this._isPaused = false;
      if (!this._isOver && !this._isTurnOver) this._stream.resume();
    }
  }

  private _finish(error?: Error): void {
    if (this._isOver) return;
    this._serve();
    this._isOver = true;
    if (error !== undefined) this._failure = { error: this._explain(error) };
    for (const reader of this._waiting.splice(0)) {
      // The first pending read rejects; for those after it the stream has simply ended.
      if (this._failure === undefined) reader.resolve(END);
      else reader.reject(this._takeFailure());
    }
  }

  private _takeFailure(): unknown {
    const error = this._failure?.error;
    this._failure = undefined;
    return error;
  }
}
