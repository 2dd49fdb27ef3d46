import { type Store, StoreError } from "#sessions";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import type { VirtualClock } from "#testing";
import type { Dice } from "./dice.ts";

/** A store on a slow and unreliable disk. What it acknowledged stays, also when its process dies. */
export interface ShakyStore {
  readonly store: Store;
  /** The process that writes is gone: nothing it asks is ever answered. */
  crash(): void;
  /** What a new process finds. */
  reopen(): Store;
}

export function createShakyStore(dice: Dice, clock: VirtualClock): ShakyStore {
  const disk = createMemoryStore();
  const failures = dice.percent(30) ? dice.pick([5, 20, 60]) : 0;
  const slowness = dice.percent(50) ? dice.upTo(300) : 0;
  let isDead = false;

  const reach = async (): Promise<void> => {
    if (isDead) return new Promise(() => undefined);
    if (slowness > 0) await new Promise<void>((resolve) => void clock.after(dice.upTo(slowness), resolve));
    if (isDead) return new Promise(() => undefined);
  };

  const store: Store = {
    ...disk,
    async append(runId, events, settlement) {
      await reach();
      if (dice.percent(failures)) throw new StoreError("store-failed", "The disk is full.");
      await disk.append(runId, events, settlement);
      await reach();
    },
    async read(runId, options) {
      await reach();
      return disk.read(runId, options);
    },
  };
  return {
    store,
    crash: () => {
      isDead = true;
    },
    reopen: () => disk,
  };
}
