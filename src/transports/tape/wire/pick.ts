import type { PlaceDifference } from "./compare.ts";

/** A recorded action that was not done yet, and how what is done now differs from it. */
export interface Pick<Entry> {
  readonly entry: Entry;
  readonly differences: readonly PlaceDifference[];
}

/** So many of those that are left are looked at: more do not go on at the same time. */
const LOOKED_AT = 16;

/**
 * Takes the recorded action that is meant: the first that does not differ, else the one that differs in the fewest
 * places. What goes on at the same time may come in another order than it was recorded in.
 */
export function pickNearest<Entry>(
  left: Entry[],
  compare: (entry: Entry) => readonly PlaceDifference[],
): Pick<Entry> | undefined {
  let best: (Pick<Entry> & { readonly at: number }) | undefined;
  for (const [at, entry] of left.slice(0, LOOKED_AT).entries()) {
    const differences = compare(entry);
    if (best === undefined || differences.length < best.differences.length) best = { entry, differences, at };
    if (differences.length === 0) break;
  }
  if (best !== undefined) left.splice(best.at, 1);
  return best;
}
