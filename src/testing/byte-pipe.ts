import { createDeferred, type Deferred } from "#streams";

/** An in-memory pipe with one writer and one reader. */
export interface BytePipe extends AsyncIterable<Uint8Array> {
  /** Writes bytes. Resolves when the pipe has room for more; rejects if the reader has left or the pipe has ended. */
  write(bytes: Uint8Array): Promise<void>;
  /** No more bytes; the reader ends after those in the pipe. Idempotent. */
  end(): void;
  /** Breaks the pipe: the reader gets its remaining bytes, then this error; writers get it at once. */
  fail(error: Error): void;
  /** Discards the bytes in the pipe and ends both sides. */
  destroy(): void;
}

/** The capacity of an operating system's pipe. */
const DEFAULT_CAPACITY = 65_536;

/** Creates a pipe that holds `capacity` bytes before the writer has to wait. */
export function createBytePipe(capacity = DEFAULT_CAPACITY): BytePipe {
  const queue: Uint8Array[] = [];
  const readers: Deferred<IteratorResult<Uint8Array, undefined>>[] = [];
  const writers: Deferred<void>[] = [];
  let size = 0;
  let state: "open" | "ended" | "left" = "open";
  let failure: Error | undefined;

  const refuse = (): Error =>
    failure ??
    new Error(
      state === "left" ? "The reader has left. Nothing was written." : "The pipe has ended. Nothing was written.",
    );

  const settleWriters = (): void => {
    if (size > capacity) return;
    for (const writer of writers.splice(0)) writer.resolve();
  };

  const finish = (next: "ended" | "left"): void => {
    if (state === "left" || state === next) return;
    state = next;
    if (next === "left") {
      queue.length = 0;
      size = 0;
      for (const writer of writers.splice(0)) writer.reject(refuse());
    }
    // Pending reads found the pipe empty. The first one gets the failure; for the others the pipe has ended.
    for (const reader of readers.splice(0)) {
      if (failure === undefined || state === "left") reader.resolve({ done: true, value: undefined });
      else reader.reject(takeFailure());
    }
  };

  // A failure is reported once; after it the pipe has ended.
  const takeFailure = (): unknown => {
    const error = failure;
    state = "left";
    return error;
  };

  const take = (): Promise<IteratorResult<Uint8Array, undefined>> => {
    const bytes = queue.shift();
    if (bytes !== undefined) {
      size -= bytes.length;
      settleWriters();
      return Promise.resolve({ done: false, value: bytes });
    }
    if (state === "ended" && failure !== undefined) return Promise.reject(takeFailure());
    if (state !== "open") return Promise.resolve({ done: true, value: undefined });
    const reader = createDeferred<IteratorResult<Uint8Array, undefined>>();
    readers.push(reader);
    return reader.promise;
  };

  return {
    write(bytes) {
      if (state !== "open") return Promise.reject(refuse());
      if (bytes.length === 0) return Promise.resolve();
      // A copy: the writer may reuse its bytes as soon as this returns.
      const copy = bytes.slice();
      const reader = readers.shift();
      if (reader !== undefined) {
        reader.resolve({ done: false, value: copy });
        return Promise.resolve();
      }
      queue.push(copy);
      size += copy.length;
      if (size <= capacity) return Promise.resolve();
      const writer = createDeferred<void>();
      writers.push(writer);
      return writer.promise;
    },
    end: () => finish("ended"),
    fail(error) {
      if (state !== "open") return;
      failure = error;
      for (const writer of writers.splice(0)) writer.reject(error);
      finish("ended");
    },
    destroy: () => finish("left"),
    [Symbol.asyncIterator]: () => ({
      next: take,
      return() {
        finish("left");
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
}
