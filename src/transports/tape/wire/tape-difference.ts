import type { PlaceDifference } from "./compare.ts";

/** What one thing that the run does has to do with the tape, when they do not agree. */
export interface WireDifference {
  /** `exchange 2 of 3 (POST https://…)`, `process 1 (claude), line 4 of stdin`. */
  readonly place: string;
  /** Where in it, and what. Empty when the whole of it is missing or new. */
  readonly differences: readonly PlaceDifference[];
  /** The difference in a sentence. */
  readonly message: string;
}

/** Why a play cannot go on. */
export class TapeDifference extends Error {
  readonly difference: WireDifference;

  constructor(difference: WireDifference) {
    super(difference.message);
    this.name = "TapeDifference";
    this.difference = difference;
  }
}
