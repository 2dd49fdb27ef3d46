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
}

/** Characters that may wait for a slow reader before `room` asks for patience. */
const MAX_WAITING = 64 * 1024;
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
  const gone = new Set<number>();
  let waiting = 0;
  let writing: Promise<void> | undefined;
  /** Who waits for room. */
  let waiters: (() => void)[] = [];

  const writeAll = async (): Promise<void> => {
    for (let piece = queue.shift(); piece !== undefined; piece = queue.shift()) {
      waiting -= piece.text.length;
      if (!gone.has(piece.fd) && !(await writeTo(piece.fd, piece.text))) gone.add(piece.fd);
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
  };
}

/** Writes a text as a whole; `false` when nobody reads it any more. Never rejects. */
export type WriteTo = (fd: number, text: string) => Promise<boolean>;

const encoder = new TextEncoder();

async function writeSome(fd: number, text: string): Promise<boolean> {
  const bytes = encoder.encode(text);
  let at = 0;
  while (at < bytes.length) {
    const { taken, fault } = await writeOnce(fd, bytes.subarray(at));
    at += taken;
    // A reader that shares its end with others may have asked never to be waited for.
    if (fault === "EAGAIN") await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    else if (fault !== undefined) return false;
  }
  return true;
}

function writeOnce(fd: number, bytes: Uint8Array): Promise<{ taken: number; fault: string | undefined }> {
  return new Promise((resolve) => {
    write(fd, bytes, (error, taken) => {
      resolve(error === null ? { taken, fault: undefined } : { taken: 0, fault: error.code ?? "EIO" });
    });
  });
}
