import type { RunSource } from "#agents";
import { type Clock, describeThrown, type Fetch, type FileSystem, type Random, type Spawn } from "#domain";
import type { ClaudeCodeWorld } from "../backends/claude-code/launch.ts";
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
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn?: (() => Promise<void>) | undefined;
  /** Hears what listeners throw. */
  readonly onListenerError: (error: unknown) => void;
  /** Makes the masks of runs. */
  readonly maskOf?: MaskSource | undefined;
  /** Receives what a run could not clean up after its end. */
  readonly onCleanUpFailure?: ((error: Error) => void) | undefined;
  /** Set while a run is recorded or played from a tape. */
  readonly tap?: Tap;
}

/** Where a recorder listens to a run, and a player speaks in its place. */
export interface Tap {
  /** The world without the tap: what is done in there leaves no trace of its own on a tape. */
  readonly real: World;
  /** Processes come from a tape: there is none to be guarded or stopped. */
  readonly isPlayed: boolean;
  /** What the Claude Code CLI takes from the machine; without it, it goes through `take`. */
  readonly claudeCode?: (machine: ClaudeCodeWorld) => ClaudeCodeWorld;
  /** The source of the run, watched. */
  around(source: RunSource): RunSource;
  /** Exchanges that go through no seam: those with the built-in model. */
  exchange(fetch: Fetch): Fetch;
  /**
   * Anything else that is taken from the machine: recorded with its value, or answered from the tape without being
   * done. What it gives must be JSON, or a promise of it.
   */
  take<Value>(key: string, take: (real: World) => Value): Value;
}

// One for the whole process, with one pool of connections: runs that follow each other find theirs open.
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

/** Where it was thrown, or what it says: an error may be made so that looking at it throws again. */
function stackOf(error: unknown): string {
  try {
    if (error instanceof Error && typeof error.stack === "string") return error.stack;
  } catch {
    // What it says is told below.
  }
  return describeThrown(error);
}

/** The real world. */
export function systemWorld(): World {
  return SYSTEM_WORLD;
}
