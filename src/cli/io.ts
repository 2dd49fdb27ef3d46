import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import { systemWorld, type World } from "#runtime";
import { createOutputs, type Output } from "./output.ts";

export type { Output } from "./output.ts";

/** The input and output of a command. */
export interface CommandIo {
  readonly out: Output;
  readonly err: Output;
  readonly input: NodeJS.ReadStream;
  /** The kind of stdin, determined without opening it: a terminal, something with text, or nothing readable. */
  readonly inputKind: InputKind;
  readonly world: World;
  readonly cwd: string;
  /** Calls `interrupt` on Ctrl-C or SIGTERM, until the returned function is called. */
  onInterrupt(interrupt: (signal: Interrupt) => void): () => void;
  /** Resolves when everything written so far has been handed over. */
  written(): Promise<void>;
  /** Adds secrets to hide in all later output. */
  hide?(secrets: readonly string[]): void;
  /**
   * Drops output that a terminal has not taken yet, and returns whether there was any. Files and pipes get everything.
   */
  cut(): boolean;
  /** Why output to stdout was lost, such as `ENOSPC`. */
  lost?(): string | undefined;
}

export type InputKind = "terminal" | "file" | "pipe" | "nothing";

/** The result of a command: the exit code. */
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
    // A getter: accessing stdin opens it, and most commands never read it.
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

/** Whether stderr is a terminal on which a temporary line can be erased. A dumb one shows escape sequences as they are. */
export function canErase({ err, world }: Pick<CommandIo, "err" | "world">): boolean {
  return err.isTerminal && world.env["TERM"] !== "dumb";
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
