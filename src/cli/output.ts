import { write } from "node:fs";

/** Text going out, with the reader's pace in view. */
export interface Output {
  write(text: string): void;
  /** `undefined`: go on. A promise: the reader is slow; it resolves when there is room, or when the reader is gone. */
  room(): Promise<void> | undefined;
  /** The reader has left (`| head`): what is written now goes nowhere. */
  readonly isGone: boolean;
  readonly isTerminal: boolean;
  readonly columns: number;
}

/** A stream of this process, as far as it matters here. */
export interface OutputStream {
  readonly fd: number;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Outputs {
  readonly out: Output;
  readonly err: Output;
  /** Resolves when everything written so far has been taken, or nobody is left to take it. */
  written(): Promise<void>;
  /**
   * Drops what still waits for a terminal: who pressed Ctrl-C wants to see no more of it. Files and pipes get it all.
   * Whether there was anything to drop.
   */
  cut(): boolean;
  /** Why what was written to stdout is not where it should be, such as `ENOSPC`; not said of a reader who has left. */
  lost(): string | undefined;
}

/** How a reader leaves: a pipe or a socket is closed, a terminal hung up. */
const LEAVING: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET", "EIO", "EBADF"]);

/**
 * Characters that may wait for a slow reader before `room` asks for patience. More than the longest answer a model
 * gives, so that a slow terminal does not slow a run; a reader that takes nothing still costs no more than this.
 */
const MAX_WAITING = 4 * 1024 * 1024;
/** Characters that are handed to the system at once: what it has cannot be cut any more. */
const MAX_PIECE = 16 * 1024;
/** Between two tries when a reader that must not be waited for is busy. */
const RETRY_MS = 5;

interface Piece {
  readonly fd: number;
  text: string;
}

/**
 * Both outputs of this process, in one queue: what is written to the one before the other is also seen before it.
 *
 * Node writes to terminals and pipes while everything else waits. A terminal that was stopped would hold up the run, its
 * time-outs and even Ctrl-C; so the writing is left to another thread, one piece at a time, and many small ones become one.
 */
export function createOutputs(
  streams: { readonly out: OutputStream; readonly err: OutputStream },
  writeTo: WriteTo = writeSome,
): Outputs {
  const queue: Piece[] = [];
  /** Who takes nothing any more, and why. */
  const gone = new Map<number, string>();
  let waiting = 0;
  let writing: Promise<void> | undefined;
  /** Who waits for room. */
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
    // In a microtask: what is written in one go goes out in one piece.
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
      // A terminal that was never given a size says 0.
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
      // What was dropped may have been the end of something coloured.
      if (dropped > 0) push(terminals[0] as number, "\x1b[0m\n");
      return dropped > 0;
    },
    lost() {
      const fault = gone.get(streams.out.fd);
      return fault === undefined || LEAVING.has(fault) ? undefined : fault;
    },
  };
}

/** The next piece, and no more of it than is written at once. */
function take(queue: Piece[]): Piece | undefined {
  const first = queue[0];
  if (first === undefined || first.text.length <= MAX_PIECE) return queue.shift();
  // Not between the halves of a character.
  const end = isHighSurrogate(first.text.charCodeAt(MAX_PIECE - 1)) ? MAX_PIECE - 1 : MAX_PIECE;
  const piece = { fd: first.fd, text: first.text.slice(0, end) };
  first.text = first.text.slice(end);
  return piece;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

/** Takes everything for these readers out of the queue; how many characters that were. */
function drop(queue: Piece[], readers: readonly number[]): number {
  let dropped = 0;
  for (const piece of queue.splice(0)) {
    if (readers.includes(piece.fd)) dropped += piece.text.length;
    else queue.push(piece);
  }
  return dropped;
}

/** Writes a text as a whole; the code of the fault when it cannot. Never rejects. */
export type WriteTo = (fd: number, text: string) => Promise<string | undefined>;

const encoder = new TextEncoder();

async function writeSome(fd: number, text: string): Promise<string | undefined> {
  const bytes = encoder.encode(text);
  let at = 0;
  while (at < bytes.length) {
    const { taken, fault } = await writeOnce(fd, bytes.subarray(at));
    at += taken;
    // A reader that shares its end with others may have asked never to be waited for.
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
