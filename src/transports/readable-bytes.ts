import type { Readable } from "node:stream";
import { createDeferred, type Deferred } from "#streams";

/** The bytes of one of Node's streams, for one reader. */
export interface ReadableBytes extends AsyncIterable<Uint8Array> {
  /** `idle`: nobody has begun to read. `waiting`: the reader waits. `busy`: bytes wait for the reader. `over`: no more come. */
  readonly state: "idle" | "waiting" | "busy" | "over";
  /** How many bytes have arrived so far. */
  readonly receivedBytes: number;
  /** The next piece, if it has already arrived and is no longer than this. */
  arrived(maxBytes: number): Uint8Array | undefined;
  /** Closes the stream. The reader still gets what has arrived, then its end. */
  destroy(): void;
}

/** Two full reads of a pipe: the next one can arrive while the reader is busy with the last. */
const HELD_BYTES = 131_072;

type Taken = IteratorResult<Uint8Array, undefined>;

/**
 * Reads a stream by its `data` events, with pause and resume as back-pressure.
 *
 * Node's own iterator copies what has piled up into one buffer and costs about a tenth more on a bare drain. Listening
 * begins at once, because Node throws away what a process left in its pipe if nobody listens when it exits.
 * Leaving the loop closes the stream. When the stream breaks, the reader gets what has arrived, then one error, which
 * `explain` may put into other words.
 */
export function readBytes(stream: Readable, explain: (error: Error) => unknown = (error) => error): ReadableBytes {
  let queue: Uint8Array[] = [];
  let head = 0;
  let held = 0;
  let receivedBytes = 0;
  let over = false;
  let failure: { readonly error: unknown } | undefined;
  let isRead = false;
  const waiting: Deferred<Taken>[] = [];

  stream.on("data", (bytes: Uint8Array) => {
    receivedBytes += bytes.length;
    const reader = waiting.shift();
    if (reader !== undefined) {
      reader.resolve({ done: false, value: bytes });
      return;
    }
    queue.push(bytes);
    held += bytes.length;
    // Every time, not once: Node resumes a child's streams by itself when the child exits.
    if (held >= HELD_BYTES) stream.pause();
  });

  const finish = (error?: Error): void => {
    if (over) return;
    over = true;
    if (error !== undefined) failure = { error: explain(error) };
    for (const reader of waiting.splice(0)) {
      // The first one waiting hears of the failure; for those behind it the stream is simply over.
      if (failure === undefined) reader.resolve({ done: true, value: undefined });
      else reader.reject(takeFailure());
    }
  };
  stream.on("end", () => finish());
  stream.on("error", (error: Error) => finish(error));
  stream.on("close", () => finish());

  const takeFailure = (): unknown => {
    const error = failure?.error;
    failure = undefined;
    return error;
  };

  const arrived = (maxBytes: number): Uint8Array | undefined => {
    const value = queue[head];
    if (value === undefined || value.length > maxBytes) return undefined;
    head += 1;
    held -= value.length;
    if (head === queue.length) {
      queue = [];
      head = 0;
    }
    if (held < HELD_BYTES / 2 && !over && stream.isPaused()) stream.resume();
    return value;
  };

  const next = (): Promise<Taken> => {
    const value = arrived(Number.POSITIVE_INFINITY);
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (failure !== undefined) return Promise.reject(takeFailure());
    if (over) return Promise.resolve({ done: true, value: undefined });
    const reader = createDeferred<Taken>();
    waiting.push(reader);
    return reader.promise;
  };

  const destroy = (): void => {
    finish();
    stream.destroy();
  };

  return {
    get state() {
      if (over) return "over";
      if (!isRead) return "idle";
      return head < queue.length ? "busy" : "waiting";
    },
    get receivedBytes() {
      return receivedBytes;
    },
    arrived,
    destroy,
    [Symbol.asyncIterator]() {
      if (isRead) throw new TypeError("This stream is being read already. It has one reader.");
      isRead = true;
      return {
        next,
        return() {
          queue = [];
          head = 0;
          held = 0;
          destroy();
          return Promise.resolve({ done: true, value: undefined });
        },
      };
    },
  };
}
