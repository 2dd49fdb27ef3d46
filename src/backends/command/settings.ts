import type { Clock, ProcessHandle, ProcessRequest } from "#domain";
import type { Format } from "#dialects";

/** How to start a command. */
export interface CommandSettings {
  readonly executable: string;
  readonly args: readonly string[];
  /** The format of its output. Loaded when a conversation is opened. */
  readonly format: { readonly name: string; load(): Promise<Format> };
  /** How it gets the prompt. */
  readonly input: "stdin" | "argument" | "none";
  readonly cwd: string | undefined;
  /** All of its variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Called with its stderr output. */
  readonly onStderr?: ((text: string) => void) | undefined;
}

/** The seams that a command needs. */
export interface CommandWorld {
  readonly clock: Clock;
  /** What is missing to start the command, with the remedy. */
  missing(): Promise<string | undefined>;
  /** Starts a process; `stop` resolves when it and everything it has started are gone. */
  start(request: ProcessRequest): Promise<{ readonly handle: ProcessHandle; stop(): Promise<void> }>;
}
