import type { Clock, Fetch, Random } from "#domain";
import { createHttpFetch, systemClock, systemRandom } from "#transports";

/** The seams of one program: everything it takes from outside. */
export interface World {
  readonly clock: Clock;
  readonly random: Random;
  readonly fetch: Fetch;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Hears what listeners throw. */
  readonly onListenerError: (error: unknown) => void;
}

// One pool of connections for the whole process: runs that follow each other find theirs open.
const systemFetch = createHttpFetch();

/** The real world. */
export function systemWorld(): World {
  return {
    clock: systemClock,
    random: systemRandom,
    fetch: systemFetch,
    env: process.env,
    onListenerError: (error) => {
      process.emitWarning(
        `A listener of a run failed: ${error instanceof Error ? error.stack : String(error)}`,
        "MillraceWarning",
      );
    },
  };
}
