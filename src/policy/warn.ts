import { warningItem } from "#domain";
import type { Combined } from "./combine.ts";
import type { Point } from "./point.ts";
import type { PolicyContext } from "./policy.ts";

/** Says which hooks failed, and what follows. Where nothing hangs on them the run goes on as if they had no opinion. */
export function warnOfFailures(
  point: Point,
  { failures }: Combined,
  place: PolicyContext,
  consequence = "The run goes on without it.",
): void {
  for (const { index, why } of failures) {
    const message = `The ${point} hook ${index + 1} ${why}. ${consequence}`;
    place.write([warningItem({ code: "hook-failed", message, context: { point, index, why } })]);
  }
}

/** Why something does not happen: the hooks that failed where one failure is enough to prevent it. */
export function describeFailures(point: Point, { failures }: Combined): string | undefined {
  if (failures.length === 0) return undefined;
  return failures.map(({ index, why }) => `The ${point} hook ${index + 1} ${why}.`).join("\n");
}
