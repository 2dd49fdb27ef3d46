import { checkNames, type ProcessRequest } from "#domain";

/** Strings are written as UTF-8. */
export type Bytes = string | Uint8Array;

/** One step of a scripted process. Steps run in order; no real time passes. */
export type SpawnStep =
  /** Writes to stdout; continues when the reader has room for more. */
  | { readonly write: Bytes }
  | { readonly stderr: Bytes }
  /** Waits for the next whole line on stdin, or for its end, reading all that is left. */
  | { readonly waitForInput: "line" | "end" }
  /** Waits for the next line on stdin and writes the function's result. */
  | { readonly reply: (line: string) => Bytes }
  /** Waits on the clock passed to `createScriptedSpawn`. */
  | { readonly waitMs: number }
  /** Stops reading stdin: later writes are refused. */
  | { readonly closeInput: true }
  /** Ignores these signals from now on. SIGKILL cannot be ignored. */
  | { readonly ignore: readonly ("SIGINT" | "SIGTERM")[] }
  /** Does nothing until it is killed. */
  | { readonly hang: true }
  /** Exits with this code, or dies by this signal. A script without this step exits with 0 after its last step. */
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

/** Checks that the name of each step is known: a misspelt one would do nothing. */
export function checkSteps(steps: readonly SpawnStep[]): readonly SpawnStep[] {
  for (const [index, step] of steps.entries()) checkNames(step, STEP_NAMES, `script[${index}].`);
  return steps;
}

/** What one started process received. */
export interface SpawnCall extends ProcessRequest {
  /** All of stdin so far. */
  readonly stdin: string;
  /** Whether stdin was closed by us. */
  readonly inputEnded: boolean;
  readonly signals: readonly string[];
  readonly isGone: boolean;
}
