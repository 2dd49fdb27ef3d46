/**
 * How much of a suite runs. `npm test` sets "quick": of what repeats a scene very often, or plays it on the real CLI, a part.
 * A test file that asks runs in the full set too (scripts/test-sets.mjs).
 * Without a value everything runs at full strength, as in `npm run test:full`; "nightly" asks for more than a landing waits for.
 */
const EFFORT = process.env["MILLRACE_EFFORT"] ?? "full";
if (!["quick", "full", "nightly"].includes(EFFORT)) {
  throw new Error(`MILLRACE_EFFORT is ${JSON.stringify(EFFORT)}. It can be "quick", "full" or "nightly".`);
}

export const isQuick = EFFORT === "quick";

/** One of three values, by effort. */
export function byEffort<Value>(values: {
  readonly quick: Value;
  readonly full: Value;
  readonly nightly?: Value;
}): Value {
  if (isQuick) return values.quick;
  return EFFORT === "nightly" ? (values.nightly ?? values.full) : values.full;
}

/** How often a property is tried: `MILLRACE_FUZZ_RUNS`, or `runs`, or a tenth of them in the quick set. */
export function fuzzRuns(runs: number): number {
  const asked = process.env["MILLRACE_FUZZ_RUNS"];
  return asked === undefined ? byEffort({ quick: Math.ceil(runs / 10), full: runs }) : Number(asked);
}
