import type { Clock } from "./seams.ts";

/** The time since then, in milliseconds. Never negative, although the system clock may be set back. */
export function elapsedSince(clock: Pick<Clock, "now">, at: number): number {
  return Math.max(0, clock.now() - at);
}

/** A duration for people: `850 ms`, `2.5 s`, `2 min 5 s`. */
export function describeMs(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  // Rounded first: otherwise 119.8 seconds would be "1 min 60 s".
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
