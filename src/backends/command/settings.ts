import type { Clock, ProcessHandle, ProcessRequest } from "#domain";
import type { Format } from "#dialects";

/** What a command is started with. */
export interface CommandSettings {
  readonly executable: string;
  readonly args: readonly string[];
  /** What its output is read as. Loaded when a conversation is opened. */
  readonly format: { readonly name: string; load(): Promise<Format> };
  /** How the prompt reaches it. */
  readonly input: "stdin" | "argument" | "none";
  readonly cwd: string | undefined;
  /** All of its variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Called with what it writes to stderr. */
  readonly onStderr?: ((text: string) => void) | undefined;
}

/** What a command needs of the machine. */
export interface CommandWorld {
  readonly clock: Clock;
  /** Starts a process; `stop` resolves when nothing of it and of what it has started is left. */
  start(request: ProcessRequest): Promise<{ readonly handle: ProcessHandle; stop(): Promise<void> }>;
}
