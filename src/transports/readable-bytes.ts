import type { Readable } from "node:stream";
import { createDeferred, type Deferred } from "#streams";

/** The bytes of one of Node's streams, for one reader. */
export interface ReadableBytes extends AsyncIterable<Uint8Array> {
  /** `idle`: nobody has begun to read. `waiting`: the reader waits. `busy`: bytes wait for the reader. `over`: no more come. */
  readonly state: "idle" | "waiting" | "busy" | "over";
  /** How many bytes have arrived so far. */
  readonly receivedBytes: number;
  /** Closes the stream. The reader still gets what has arrived, then its end. */
  destroy(): void;
}

/** As much as one full read of a socket brings. Pieces that have arrived are joined up to this size. */
const JOINED_BYTES = 65_536;

/** Two full reads of a pipe: the next one can arrive while the reader is busy with the last. */
const HELD_BYTES = 2 * JOINED_BYTES;

type Taken = IteratorResult<Uint8Array, undefined>;

/** Never written to. */
const NO_BYTES: Uint8Array[] = [];

const END: Taken = { done: true, value: undefined };

/**
 * Reads a stream by its `data` events, with pause and resume as back-pressure. Small pieces that have arrived together
 * are one read: a host that sends each event in an HTTP chunk sends twenty at once, and each read costs about as much
 * as the few events of one piece.
 *
 * Node's own iterator copies what has piled up into one buffer and costs about a tenth more on a bare drain. Listening
 * begins at once, because Node throws away what a process left in its pipe if nobody listens when it exits.
 * Leaving the loop closes the stream. When the stream breaks, the reader gets what has arrived, then one error, which
 * `explain` may put into other words.
 */
export function readBytes(stream: Readable, explain: (error: Error) => unknown = (error) => error): ReadableBytes {
  return new ByteReader(stream, explain);
}

/** A class: hundreds of streams may be open at once, and what each holds is what the collector goes through. */
class ByteReader implements ReadableBytes, AsyncIterator<Uint8Array, undefined> {
  private readonly _stream: Readable;
  private readonly _explain: (error: Error) => unknown;
  /**
   * Made anew for what arrives together: a list that was made beforehand would be old by the time it is used, and what an
   * old list holds outlives it until the next full collection.
   */
  private _queue: Uint8Array[] = NO_BYTES;
  private _head = 0;
  private _held = 0;
  private _receivedBytes = 0;
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
      // Not at once: all pieces of one read of the socket arrive before the microtask runs.
      if (this._waiting.length > 0) queueMicrotask(() => this._serve());
    } else this._queue.push(bytes);
    this._held += bytes.length;
    // Every time, not once: Node resumes a child's streams by itself when the child exits.
    if (this._held < HELD_BYTES) return;
    this._isPaused = true;
    this._stream.pause();
  }

  /** Gives what has arrived to the readers that wait. */
  private _serve(): void {
    while (this._head < this._queue.length) {
      const reader = this._waiting.shift();
      if (reader === undefined) return;
      reader.resolve({ done: false, value: this._join() });
    }
  }

  /** Takes the next piece, and the ones after it as long as all of them are no more than one full read. */
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
      if (!this._isOver) this._stream.resume();
    }
  }

  private _finish(error?: Error): void {
    if (this._isOver) return;
    this._serve();
    this._isOver = true;
    if (error !== undefined) this._failure = { error: this._explain(error) };
    for (const reader of this._waiting.splice(0)) {
      // The first one waiting hears of the failure; for those behind it the stream is simply over.
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
