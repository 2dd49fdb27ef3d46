import type { Redactor } from "#secrets";
import type { TapePlace } from "./tape.ts";
import type { TapeLog } from "./tape-log.ts";

/** The shared state of one recording, for the parts that each record one seam. */
export interface RecorderContext {
  readonly log: TapeLog;
  readonly redactor: Redactor;
  /** The JSON form of a caller's value. Throws when it has none. */
  readonly toJson: (value: unknown) => unknown;
  /** The number of the next exchange or process. */
  nextId(): number;
  /** The time, and the clock readings and random values since the last entry. */
  place(): TapePlace;
}
