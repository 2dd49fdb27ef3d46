import type { World } from "#runtime";
import { systemWorld } from "#runtime";

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

/** What a command takes from outside. */
export interface CommandIo {
  readonly out: Output;
  readonly err: Output;
  readonly input: NodeJS.ReadStream;
  readonly world: World;
  readonly cwd: string;
  /** Calls `interrupt` at Ctrl-C, or when the process is asked to end, until the returned function is called. */
  onInterrupt(interrupt: () => void): () => void;
}

/** What a command leaves behind: the exit code. */
export interface Outcome {
  code: number;
}

/** Exit codes (DESIGN.md 2.4). */
export const EXIT = { success: 0, failed: 1, usage: 2, setup: 3, aborted: 130 } as const;

const INTERRUPTS = ["SIGINT", "SIGTERM"] as const;

/** The real streams of this process. */
export function systemIo(): CommandIo {
  return {
    out: createOutput(process.stdout),
    err: createOutput(process.stderr),
    // A getter: merely looking at stdin opens it, and most commands never read it.
    get input() {
      return process.stdin;
    },
    world: systemWorld(),
    cwd: process.cwd(),
    onInterrupt(interrupt) {
      for (const signal of INTERRUPTS) process.on(signal, interrupt);
      return () => {
        for (const signal of INTERRUPTS) process.off(signal, interrupt);
      };
    },
  };
}

function createOutput(stream: NodeJS.WriteStream): Output {
  let gone = false;
  let full = false;
  // A reader that leaves early is no failure of ours.
  stream.on("error", () => {
    gone = true;
  });
  return {
    write(text) {
      if (!gone) full = !stream.write(text);
    },
    room() {
      if (gone || !full) return undefined;
      return new Promise((resolve) => {
        const finish = (): void => {
          full = false;
          stream.off("drain", finish).off("error", finish).off("close", finish);
          resolve();
        };
        stream.on("drain", finish).on("error", finish).on("close", finish);
      });
    },
    get isGone() {
      return gone;
    },
    isTerminal: stream.isTTY === true,
    columns: stream.columns ?? 100,
  };
}
