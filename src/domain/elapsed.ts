import type { Clock } from "./seams.ts";

/** How long ago that was, in milliseconds. Never less than 0: the clock of a machine may be set back. */
export function elapsedSince(clock: Pick<Clock, "now">, at: number): number {
  return Math.max(0, clock.now() - at);
}
