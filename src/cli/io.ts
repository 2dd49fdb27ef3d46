import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import { systemWorld, type World } from "#runtime";
import { createOutputs, type Output } from "./output.ts";

export type { Output } from "./output.ts";

/** What a command takes from outside. */
export interface CommandIo {
  readonly out: Output;
  readonly err: Output;
  readonly input: NodeJS.ReadStream;
  /** What stdin is, found out without opening it: a terminal, something with text in it, or nothing that can be read. */
  readonly inputKind: InputKind;
  readonly world: World;
  readonly cwd: string;
  /** Calls `interrupt` at Ctrl-C, or when the process is asked to end, until the returned function is called. */
  onInterrupt(interrupt: (signal: Interrupt) => void): () => void;
  /** Resolves when everything written so far has been taken. */
  written(): Promise<void>;
  /** From now on these are secrets, too: what is written does not show them. */
  hide?(secrets: readonly string[]): void;
  /** Drops what still waits for a terminal, and says whether there was any. Files and pipes get it all. */
  cut(): boolean;
  /** Why what was written to stdout is lost, such as `ENOSPC`. */
  lost?(): string | undefined;
}

export type InputKind = "terminal" | "file" | "pipe" | "nothing";

/** What a command leaves behind: the exit code. */
export interface Outcome {
  code: number;
}

/** Exit codes (DESIGN.md 2.4). */
export const EXIT = { success: 0, failed: 1, usage: 2, setup: 3, aborted: 130 } as const;

const INTERRUPTS = ["SIGINT", "SIGTERM"] as const;

/** How a process is asked to end: by Ctrl-C, or by another program. */
export type Interrupt = (typeof INTERRUPTS)[number];

/** The real streams of this process. */
export function systemIo(): CommandIo {
  const { out, err, written, cut, lost } = createOutputs({ out: process.stdout, err: process.stderr });
  return {
    out,
    err,
    written,
    cut,
    lost,
    // A getter: merely looking at stdin opens it, and most commands never read it.
    get input() {
      return process.stdin;
    },
    get inputKind() {
      return kindOfInput();
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

function kindOfInput(): InputKind {
  if (isatty(0)) return "terminal";
  try {
    const found = fstatSync(0);
    if (found.isFile()) return "file";
    return found.isFIFO() || found.isSocket() ? "pipe" : "nothing";
  } catch {
    // It was closed.
    return "nothing";
  }
}
