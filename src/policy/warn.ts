import { warningItem } from "#domain";
import type { Combined } from "./combine.ts";
import type { Point } from "./point.ts";
import type { PolicyContext } from "./policy.ts";

/**
 * Warns about each hook that failed, and states the consequence. At points that cannot prevent anything, the run goes
 * on as if the hook had no opinion.
 */
export function warnOfFailures(
  point: Point,
  { failures }: Combined,
  place: PolicyContext,
  consequence = "The run continues without it.",
): void {
  for (const { index, why } of failures) {
    const message = `The ${point} hook ${index + 1} ${why}. ${consequence}`;
    place.write([warningItem({ code: "hook-failed", message, context: { point, index, why } })]);
  }
}

/** Describes the failed hooks of a point at which one failure is enough to prevent the step. */
export function describeFailures(point: Point, { failures }: Combined): string | undefined {
  if (failures.length === 0) return undefined;
  return failures.map(({ index, why }) => `The ${point} hook ${index + 1} ${why}.`).join("\n");
}
