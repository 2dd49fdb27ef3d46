import { type Clock, StartError } from "#domain";
import { isStoreError, type Store } from "#sessions";

/** A store in which runs can be claimed. */
export type ClaimingStore = Store & Required<Pick<Store, "claim" | "extendClaim" | "releaseClaim">>;

/** How often a worker says that it is at work on a run, and finds out whether it still is. */
const EXTEND_MS = 2000;

/** A claim of a run, and the store that has it. */
interface Held {
  readonly store: ClaimingStore;
  readonly clock: Clock;
  readonly runId: string;
  readonly epoch: number;
}

/** A claim that is being extended. */
export interface HeldClaim {
  /** Extends it at once, because something has happened to the run. */
  check(): void;
  stop(): void;
}

/** Extends a claim until it is stopped. Calls `onLost` when another worker has taken the run. */
export function holdClaim({ store, clock, runId, epoch }: Held, onLost: () => void): HeldClaim {
  let stop: (() => void) | undefined;
  let isOver = false;

  const check = (): void => {
    store.extendClaim({ runId, epoch, at: clock.now() }).catch((error: unknown) => {
      if (!isOver && isStoreError(error) && error.code === "claim-lost") onLost();
    });
  };
  const later = (): void => {
    stop = clock.after(EXTEND_MS, () => {
      check();
      if (!isOver) later();
    });
  };
  later();
  return {
    check,
    stop() {
      isOver = true;
      stop?.();
    },
  };
}

/** @throws StartError if the store has no claims. */
export function requireClaims(store: Store): ClaimingStore {
  const { claim, extendClaim, releaseClaim } = store;
  if (claim !== undefined && extendClaim !== undefined && releaseClaim !== undefined) return store as ClaimingStore;
  throw new StartError("invalid-option", "With a queue, the store must have claims, as that in Postgres has.");
}
