import { createAbortWatch } from "./abort-watch.ts";
import type { CompiledPolicy } from "./compiled-policy.ts";

/**
 * The parts for one question of an agent's: what waits for its answer ends with the run, and when the question is taken
 * back.
 */
export function withdrawable(signal: AbortSignal | undefined, parts: CompiledPolicy): CompiledPolicy {
  if (signal === undefined) return parts;
  const either = AbortSignal.any([parts.place.signal, signal]);
  return { ...parts, place: { ...parts.place, signal: either }, watch: createAbortWatch(either) };
}
