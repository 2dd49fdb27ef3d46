import { type RunQueue, type Store, StoreError } from "#sessions";
import type { VirtualClock } from "#testing";
import { createQueueInProcess, type InProcessQueue } from "../../../src/sessions/queues/in-process/in-process-queue.ts";
import { createMemoryStore } from "../../../src/sessions/stores/memory/memory-store.ts";
import type { Dice } from "../dice.ts";

/** A node that is not heard of keeps its jobs for so long. */
export const LOCK_MS = 5000;

/** What goes wrong between nodes and what they share. A test changes it as time goes on. */
export interface Faults {
  /** Calls are refused, or get no answer. */
  isStoreAway: boolean;
  isQueueAway: boolean;
  /** How often, in percent, what was done is reported as failed. */
  refusedAfterCommit: number;
  /** The most that a message takes in each direction. */
  slowMs: number;
  /** How often, in percent, a hint does not reach a node. */
  lostHints: number;
}

/** The store and the queue that all nodes share, and what the store has seen. */
export interface Place {
  readonly clock: VirtualClock;
  readonly faults: Faults;
  /** What is stored, without faults. */
  readonly truth: Store;
  /** The stored calls, as `run call`. */
  readonly storedCalls: ReadonlySet<string>;
  /** A store that tells the others of its changes. */
  openStore(dice: Dice): Store;
  connect(): InProcessQueue;
  /** The jobs are gone, those that are held too. */
  loseQueue(): void;
  /** Called for each connection when the jobs are gone. */
  onQueueLost(listener: () => void): void;
}

const QUIET: Faults = { isStoreAway: false, isQueueAway: false, refusedAfterCommit: 0, slowMs: 30, lostHints: 0 };

export function calm(faults: Faults): void {
  Object.assign(faults, QUIET);
}

export function createPlace(clock: VirtualClock): Place {
  const truth = createMemoryStore();
  const faults = { ...QUIET };
  const storedCalls = new Set<string>();
  const listeners = new Set<(runId: string | undefined) => void>();
  const lostQueue = new Set<() => void>();
  // The lock is kept by the nodes, whose calls reach it or not.
  let queue = createQueueInProcess({ clock, lockMs: 1 });

  return {
    clock,
    faults,
    truth,
    storedCalls,
    connect: () => queue.connect(),
    loseQueue() {
      queue = createQueueInProcess({ clock, lockMs: 1 });
      for (const listener of lostQueue) listener();
    },
    onQueueLost: (listener) => void lostQueue.add(listener),
    openStore(dice) {
      /** Some time later, and perhaps not to everyone. */
      const tell = (runId: string): void => {
        if (dice.percent(faults.lostHints)) return;
        clock.after(20 + dice.upTo(faults.slowMs), () => {
          for (const listener of listeners) if (!dice.percent(faults.lostHints)) listener(runId);
        });
      };
      const { noteNode: _, ...store } = truth;
      return {
        ...store,
        async append(runId, events, settlement, epoch) {
          await truth.append(runId, events, settlement, epoch);
          for (const event of events) if (event.type === "tool-call") storedCalls.add(`${runId} ${event.callId}`);
          tell(runId);
        },
        async addAnswer(runId, answer) {
          const isFirst = await truth.addAnswer(runId, answer);
          tell(runId);
          return isFirst;
        },
        watch(listener) {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      };
    },
  };
}

export function storeAway(): StoreError {
  return new StoreError("store-failed", "The database does not answer.");
}

export type { InProcessQueue, RunQueue };
