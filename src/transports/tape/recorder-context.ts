import type { Redactor } from "#secrets";
import type { TapePlace } from "./tape.ts";
import type { TapeLog } from "./tape-log.ts";

/** The books of one recording, for the parts that record one seam each. */
export interface RecorderContext {
  readonly log: TapeLog;
  readonly redactor: Redactor;
  /** A caller's value as the JSON it counts as. Throws when it has none. */
  readonly toJson: (value: unknown) => unknown;
  /** The number of the next exchange or process. */
  nextId(): number;
  /** The time, and what clock and chance gave since the last entry. */
  place(): TapePlace;
}
