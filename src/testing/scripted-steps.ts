import { checkNames, type ProcessRequest } from "#domain";

/** Text is written as UTF-8. */
export type Bytes = string | Uint8Array;

/** One thing a scripted process does. Steps are carried out in order; no real time passes. */
export type SpawnStep =
  /** Writes to stdout; goes on when the reader has room for more. */
  | { readonly write: Bytes }
  | { readonly stderr: Bytes }
  /** Waits for the next whole line on stdin, or for its end, reading all that is left. */
  | { readonly waitForInput: "line" | "end" }
  /** Waits for the next line on stdin and writes what the function makes of it. */
  | { readonly reply: (line: string) => Bytes }
  /** Waits on the clock given to `createScriptedSpawn`. */
  | { readonly waitMs: number }
  /** Reads stdin no more: what is written from now on is refused. */
  | { readonly closeInput: true }
  /** From now on these signals change nothing. SIGKILL cannot be ignored. */
  | { readonly ignore: readonly ("SIGINT" | "SIGTERM")[] }
  /** Does nothing until it is killed. */
  | { readonly hang: true }
  /** Exits with this code, or dies by this signal. A script without it exits with 0 behind its last step. */
  | { readonly exit: number | "SIGINT" | "SIGTERM" | "SIGKILL" | "SIGSEGV" };

type StepName<Step> = Step extends unknown ? keyof Step : never;

const STEP_NAMES = [
  "write",
  "stderr",
  "waitForInput",
  "reply",
  "waitMs",
  "closeInput",
  "ignore",
  "hang",
  "exit",
] satisfies StepName<SpawnStep>[];

/** The steps, each of which has a name that is known: one that is misspelt would do nothing. */
export function checkSteps(steps: readonly SpawnStep[]): readonly SpawnStep[] {
  for (const [index, step] of steps.entries()) checkNames(step, STEP_NAMES, `script[${index}].`);
  return steps;
}

/** What one started process was given. */
export interface SpawnCall extends ProcessRequest {
  /** All of stdin so far. */
  readonly stdin: string;
  /** Whether stdin was closed by us. */
  readonly inputEnded: boolean;
  readonly signals: readonly string[];
  readonly isGone: boolean;
}
