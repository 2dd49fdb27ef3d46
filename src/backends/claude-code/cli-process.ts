import { type Clock, describeThrown, type ProcessExit, type ProcessHandle, type ProcessTag, type Raw } from "#domain";
import { createStderrTail, type StderrTail, stopProcess } from "#transports";
import type { Cover } from "../cover-thrown.ts";
import type { ClaudeCodeWorld } from "./world.ts";

/** A running CLI. */
export interface CliProcess {
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly exit: Promise<ProcessExit>;
  readonly stderr: StderrTail;
  /** Why stdout could not be read to its end. Set by its reader. */
  outputFailure: string | undefined;
  /** Hides its secrets in whatever is shown of its output. */
  readonly cover: Cover;
  /** The same for consecutive lines: a secret may be spread over several. */
  readonly coverLines: () => (frame: Raw) => Raw;
  /** Writes text to stdin, in order. A CLI that no longer reads is noticed by its exit. */
  write(text: string, carries?: "prompt" | "control"): void;
  /** Why a write failed; `undefined` as long as everything was written. */
  readonly inputFailure: string | undefined;
  /** The same for prompts alone: an answer does not depend on control lines that the CLI no longer read. */
  readonly promptFailure: string | undefined;
  /**
   * Resolves when everything was written or has failed. Never resolves if something keeps the input open without
   * reading.
   */
  readonly inputSettled: Promise<void>;
  endInput(): void;
  /** Ends the turn of a CLI without a control channel. */
  signalInterrupt(): void;
  /**
   * Resolves when nothing of it is left, including its files. `immediate`: without waiting for it to end by itself;
   * stdin stays open, because a CLI whose stdin closes may treat an open question as a yes. Idempotent; the more urgent
   * call wins.
   */
  stop(how: { readonly immediate: boolean }): Promise<void>;
}

interface CliParts {
  readonly tag: ProcessTag;
  readonly cover: Cover;
  readonly coverLines: CliProcess["coverLines"];
  readonly onStderr: ((line: string) => void) | undefined;
  readonly removeFiles: () => Promise<void>;
}

/** Makes a running CLI of a process that was just started. */
export function createCliProcess(
  handle: ProcessHandle,
  { tag, cover, coverLines, onStderr, removeFiles }: CliParts,
  world: ClaudeCodeWorld,
): CliProcess {
  const encoder = new TextEncoder();
  const stderr = createStderrTail({ onLine: onStderr });
  stderr.drain(handle.stderr).catch(() => undefined);
  let writing: Promise<void> = Promise.resolve();
  let inputFailure: string | undefined;
  let promptFailure: string | undefined;
  let polite: Promise<void> | undefined;
  let urgent: Promise<void> | undefined;

  const bringDown = async (immediate: boolean): Promise<void> => {
    const { clock, processes: table } = world;
    const stop = world.stop ?? stopProcess;
    await stop(handle, { clock, tag, immediate, table });
    attempt(() => world.watchdog?.release(tag));
    await removeFiles();
  };

  return {
    stdout: handle.stdout,
    exit: handle.exit,
    stderr,
    outputFailure: undefined,
    cover,
    coverLines,
    get inputFailure() {
      return inputFailure;
    },
    get promptFailure() {
      return promptFailure;
    },
    get inputSettled() {
      return writing;
    },
    write(text, carries = "prompt") {
      const bytes = encoder.encode(text);
      // One write after the other, while output is read: a CLI that writes before it reads must not block us.
      writing = writing
        .then(() => handle.write(bytes))
        .catch((error: unknown) => {
          inputFailure ??= cover(describeThrown(error));
          if (carries === "prompt") promptFailure ??= inputFailure;
        });
    },
    endInput() {
      writing.then(
        () => handle.endInput(),
        () => handle.endInput(),
      );
    },
    signalInterrupt: () => handle.kill("SIGINT"),
    stop({ immediate }) {
      if (immediate) return (urgent ??= bringDown(true));
      return urgent ?? (polite ??= bringDown(false));
    },
  };
}

/** How long a CLI that has closed its output may take to exit. */
const EXIT_MS = 1000;

/** How long the system may take to report that the input of an exited process is closed. */
const INPUT_MS = 100;

/**
 * How a process whose output has ended exited; `undefined` if it stays. By then it is also known whether its input was
 * read.
 */
export async function awaitExit(
  process: Pick<CliProcess, "exit" | "inputSettled">,
  clock: Clock,
  maxMs: number = EXIT_MS,
): Promise<ProcessExit | undefined> {
  const exit = await within(process.exit, clock, maxMs);
  if (exit !== undefined) await within(process.inputSettled, clock, INPUT_MS);
  return exit;
}

/** The value of a promise within a time limit; `undefined` if it is late or rejects. */
function within<Value>(promise: Promise<Value>, clock: Clock, maxMs: number): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const stopClock = clock.after(maxMs, () => resolve(undefined));
    const settle = (value: Value | undefined): void => {
      stopClock();
      resolve(value);
    };
    promise.then(settle, () => settle(undefined));
  });
}

/** A failure of the watchdog must not prevent the start or stop of a process. */
export function attempt(call: () => void): void {
  try {
    call();
  } catch {
    // The watchdog then guards too little or too long; both end with this process.
  }
}
