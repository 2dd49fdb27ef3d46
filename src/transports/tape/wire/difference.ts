import type { PlaceDifference } from "./compare.ts";
import type { WireDifference } from "./tape-difference.ts";

/** So many places of one request are told in full. */
const TOLD = 3;
/** And so many more by their paths alone. */
const NAMED = 10;

/** Describes where a request is not the recorded one. */
export function describeChange(place: string, differences: readonly PlaceDifference[]): WireDifference {
  const told = differences
    .slice(0, TOLD)
    .map(({ path, recorded, sent }) => `${path}: the tape has ${recorded}, and now there is ${sent}`);
  const rest = differences.slice(TOLD).map(({ path }) => path);
  const more =
    rest.length === 0 ? "" : `; and so do ${rest.slice(0, NAMED).join(", ")}${rest.length > NAMED ? ", …" : ""}`;
  return {
    place,
    differences,
    message: `The run differs from its tape in ${place}: ${told.join("; ")}${more}.`,
  };
}

/** Describes something that only the tape has, or only the run. */
export function describeGap(place: string, what: string): WireDifference {
  return { place, differences: [], message: `The run differs from its tape in ${place}: ${what}.` };
}
