import type { Clock } from "#domain";
import { closeInterruptedRun, type Store } from "#sessions";

/** Closes every unfinished run of a store, as the process that opens it next does. Returns how many there were. */
export async function closeInterruptedRuns(store: Store, clock: Clock): Promise<number> {
  const runs = await store.listRuns({ isOver: false });
  for (const run of runs) await closeInterruptedRun(store, run, clock);
  return runs.length;
}
