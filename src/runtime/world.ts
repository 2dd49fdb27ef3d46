import type { RunSource } from "#run";
import {
  type Clock,
  describeThrown,
  type Fetch,
  type FileSystem,
  type NextTurn,
  type Random,
  type Spawn,
} from "#domain";
import type { ClaudeCodeWorld } from "../backends/claude-code/world.ts";
import { createMaskSource, type MaskSource } from "./run-secrets.ts";
import { createHttpFetch, createSpawn, createSystemFiles, systemClock, systemRandom, systemTurn } from "#transports";

/** The seams of one program: everything it takes from outside. */
export interface World {
  readonly clock: Clock;
  readonly random: Random;
  readonly fetch: Fetch;
  readonly spawn: Spawn;
  readonly files: FileSystem;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nextTurn?: NextTurn | undefined;
  /** Receives what listeners throw. */
  readonly onListenerError: (error: unknown) => void;
  /** Creates the masks of runs. */
  readonly maskOf?: MaskSource | undefined;
  /** Receives the errors of a cleanup after a run's end. */
  readonly onCleanUpFailure?: ((error: Error) => void) | undefined;
  /** Set while a run is recorded or replayed from a tape. */
  readonly tap?: Tap;
}

/** The point where a recorder observes a run, and a player takes its place. */
export interface Tap {
  /** The world without the tap: what is done there is not recorded. */
  readonly real: World;
  /** Processes come from a tape: there are none to guard or stop. */
  readonly isPlayed: boolean;
  /** What the Claude Code CLI takes from the machine; if absent, this goes through `take`. */
  readonly claudeCode?: (machine: ClaudeCodeWorld) => ClaudeCodeWorld;
  /** Wraps the source of the run. */
  around(source: RunSource): RunSource;
  /** Wraps exchanges that use no seam: those with the built-in model. */
  exchange(fetch: Fetch): Fetch;
  /**
   * Anything else that is taken from the machine: performed and recorded with its value, or answered from the tape
   * without being performed. The value must be JSON, or a promise of it.
   */
  take<Value>(key: string, take: (real: World) => Value): Value;
}

// One for the whole process, with one connection pool, so that successive runs reuse open connections.
const SYSTEM_WORLD: World = {
  clock: systemClock,
  random: systemRandom,
  fetch: createHttpFetch(),
  spawn: createSpawn(),
  files: createSystemFiles(),
  env: process.env,
  nextTurn: systemTurn,
  maskOf: createMaskSource(),
  onListenerError: (error) => {
    process.emitWarning(`A listener of a run failed: ${stackOf(error)}`, "MillraceWarning");
  },
  onCleanUpFailure: (error) => process.emitWarning(error.message, "MillraceWarning"),
};

/** The stack, or a description: an error may be built so that reading it throws again. */
function stackOf(error: unknown): string {
  try {
    if (error instanceof Error && typeof error.stack === "string") return error.stack;
  } catch {
    // Its description is returned below.
  }
  return describeThrown(error);
}

/** The real world. */
export function systemWorld(): World {
  return SYSTEM_WORLD;
}
