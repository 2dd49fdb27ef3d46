import type { PathDifference } from "./compare.ts";

/** How many places of one request are described in full. */
const MOST_SHOWN = 3;
/** How many further places are listed by path only. */
const NAMED = 10;

/** Describes how a request differs from the recorded one. */
export function describeChange(place: string, differences: readonly PathDifference[]): WireDifference {
  const shown = differences
    .slice(0, MOST_SHOWN)
    .map(({ path, recorded, sent }) => `${path}: the tape has ${recorded}, and now there is ${sent}`);
  const rest = differences.slice(MOST_SHOWN).map(({ path }) => path);
  const more =
    rest.length === 0 ? "" : `; and so do ${rest.slice(0, NAMED).join(", ")}${rest.length > NAMED ? ", …" : ""}`;
  return {
    place,
    differences,
    message: `The run differs from its tape in ${place}: ${shown.join("; ")}${more}.`,
  };
}

/** Describes something that only the tape has, or only the run. */
export function describeGap(place: string, what: string): WireDifference {
  return { place, differences: [], message: `The run differs from its tape in ${place}: ${what}.` };
}

/** A difference between an action of the run and the tape. */
export interface WireDifference {
  /** `exchange 2 of 3 (POST https://…)`, `process 1 (claude), line 4 of stdin`. */
  readonly place: string;
  /** The places within it. Empty when all of it is missing or new. */
  readonly differences: readonly PathDifference[];
  /** The difference in a sentence. */
  readonly message: string;
}

/** Why a replay cannot continue. */
export class TapeDifference extends Error {
  readonly difference: WireDifference;

  constructor(difference: WireDifference) {
    super(difference.message);
    this.name = "TapeDifference";
    this.difference = difference;
  }
}
