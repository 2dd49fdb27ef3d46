import { createAbortWatch } from "./abort-watch.ts";
import type { CompiledPolicy } from "./compiled-policy.ts";

/** The policy for one question of an agent: its waits end when the run is aborted or the question is withdrawn. */
export function withdrawable(signal: AbortSignal | undefined, parts: CompiledPolicy): CompiledPolicy {
  if (signal === undefined) return parts;
  const either = AbortSignal.any([parts.place.signal, signal]);
  return { ...parts, place: { ...parts.place, signal: either }, watch: createAbortWatch(either) };
}
