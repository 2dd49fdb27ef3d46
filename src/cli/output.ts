import { write } from "node:fs";

/** A text output with backpressure. */
export interface Output {
  write(text: string): void;
  /**
   * `undefined`: continue. A promise: the reader is slow; it resolves when there is room, or when the reader is gone.
   */
  room(): Promise<void> | undefined;
  /** The reader has left (`| head`): further output is discarded. */
  readonly isGone: boolean;
  readonly isTerminal: boolean;
  readonly columns: number;
}

/** The part of a stream of this process that is used here. */
export interface OutputStream {
  readonly fd: number;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Outputs {
  readonly out: Output;
  readonly err: Output;
  /** Resolves when everything written so far has been taken, or the readers are gone. */
  written(): Promise<void>;
  /**
   * Drops output that a terminal has not taken yet: after Ctrl-C it is no longer wanted. Files and pipes get
   * everything. Returns whether anything was dropped.
   */
  cut(): boolean;
  /** Why output to stdout was lost, such as `ENOSPC`; `undefined` if the reader has left. */
  lost(): string | undefined;
}

/** The errors for a reader that has left: a closed pipe or socket, a terminal that hung up. */
const LEAVING: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET", "EIO", "EBADF"]);

/**
 * The number of buffered characters above which `room` returns a promise. It is more than a model's longest answer, so
 * that a slow terminal does not slow down a run, and it bounds memory if the reader takes nothing.
 */
const MAX_WAITING = 4 * 1024 * 1024;
/** The maximum number of characters handed to the system at once: those can no longer be dropped. */
const MAX_PIECE = 16 * 1024;
/** The delay before retrying a non-blocking reader that is busy. */
const RETRY_MS = 5;

interface Piece {
  readonly fd: number;
  text: string;
}

/**
 * Both outputs of this process, in one queue, so that their order is kept on a shared screen.
 *
 * Node writes to terminals and pipes synchronously. A stopped terminal would block the run, its time-outs and even
 * Ctrl-C; so the writing is left to the thread pool, one piece at a time, and many small pieces are merged.
 */
export function createOutputs(
  streams: { readonly out: OutputStream; readonly err: OutputStream },
  writeTo: WriteTo = writeSome,
): Outputs {
  const queue: Piece[] = [];
  /** Outputs that accept nothing any more, and why. */
  const gone = new Map<number, string>();
  let waiting = 0;
  let writing: Promise<void> | undefined;
  /** Callers that wait for room. */
  let waiters: (() => void)[] = [];

  const writeAll = async (): Promise<void> => {
    for (let piece = take(queue); piece !== undefined; piece = take(queue)) {
      waiting -= piece.text.length;
      const fault = gone.get(piece.fd) ?? (await writeTo(piece.fd, piece.text));
      if (fault !== undefined) gone.set(piece.fd, fault);
      if (waiting <= MAX_WAITING) wake();
    }
    writing = undefined;
  };
  const wake = (): void => {
    const woken = waiters;
    waiters = [];
    for (const resolve of woken) resolve();
  };
  const push = (fd: number, text: string): void => {
    if (text === "" || gone.has(fd)) return;
    const last = queue.at(-1);
    if (last?.fd === fd) last.text += text;
    else queue.push({ fd, text });
    waiting += text.length;
    // In a microtask, so that consecutive writes are merged.
    writing ??= Promise.resolve().then(writeAll);
  };
  const outputOf = (stream: OutputStream): Output => ({
    write: (text) => push(stream.fd, text),
    room: () => (waiting > MAX_WAITING ? new Promise((resolve) => waiters.push(resolve)) : undefined),
    get isGone() {
      return gone.has(stream.fd);
    },
    isTerminal: stream.isTTY === true,
    get columns() {
      // A terminal that was never given a size reports 0.
      return Math.max(20, stream.columns || 100);
    },
  });
  return {
    out: outputOf(streams.out),
    err: outputOf(streams.err),
    async written() {
      while (writing !== undefined) await writing;
    },
    cut() {
      const terminals = [streams.out, streams.err].filter(({ isTTY }) => isTTY === true).map(({ fd }) => fd);
      const dropped = drop(queue, terminals);
      waiting -= dropped;
      if (waiting <= MAX_WAITING) wake();
      // The dropped part may have contained the end of a colour.
      if (dropped > 0) push(terminals[0] as number, "\x1b[0m\n");
      return dropped > 0;
    },
    lost() {
      const fault = gone.get(streams.out.fd);
      return fault === undefined || LEAVING.has(fault) ? undefined : fault;
    },
  };
}

/** The next piece, at most as much as is written at once. */
function take(queue: Piece[]): Piece | undefined {
  const first = queue[0];
  if (first === undefined || first.text.length <= MAX_PIECE) return queue.shift();
  // Do not split a surrogate pair.
  const end = isHighSurrogate(first.text.charCodeAt(MAX_PIECE - 1)) ? MAX_PIECE - 1 : MAX_PIECE;
  const piece = { fd: first.fd, text: first.text.slice(0, end) };
  first.text = first.text.slice(end);
  return piece;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

/** Removes all pieces for these readers from the queue; returns how many characters that were. */
function drop(queue: Piece[], readers: readonly number[]): number {
  let dropped = 0;
  for (const piece of queue.splice(0)) {
    if (readers.includes(piece.fd)) dropped += piece.text.length;
    else queue.push(piece);
  }
  return dropped;
}

/** Writes a whole text; resolves with the error code if it cannot. Never rejects. */
export type WriteTo = (fd: number, text: string) => Promise<string | undefined>;

const encoder = new TextEncoder();

async function writeSome(fd: number, text: string): Promise<string | undefined> {
  const bytes = encoder.encode(text);
  let at = 0;
  while (at < bytes.length) {
    const { taken, fault } = await writeOnce(fd, bytes.subarray(at));
    at += taken;
    // A descriptor that is shared with another process may be non-blocking.
    if (fault === "EAGAIN") await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    else if (fault !== undefined) return fault;
  }
  return undefined;
}

function writeOnce(fd: number, bytes: Uint8Array): Promise<{ taken: number; fault: string | undefined }> {
  return new Promise((resolve) => {
    write(fd, bytes, (error, taken) => {
      resolve(error === null ? { taken, fault: undefined } : { taken: 0, fault: error.code ?? "EIO" });
    });
  });
}
