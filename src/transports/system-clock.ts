import type { Clock } from "#domain";

/** Node fires a timer beyond this at once instead of late. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** The time of this machine. A timer keeps the process alive until it fires or is taken back. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fire) {
    let timer: NodeJS.Timeout | undefined;
    const wait = (left: number): void => {
      if (left === Number.POSITIVE_INFINITY) return;
      const step = Math.min(Math.max(left, 0), LONGEST_TIMER_MS);
      timer = setTimeout(() => (left > step ? wait(left - step) : fire()), step);
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

let nextTurn: Promise<void> | undefined;

/**
 * Resolves in the next turn of the event loop, when everything that has already arrived was dealt with. One promise for
 * all who wait for the same turn.
 */
export function systemTurn(): Promise<void> {
  nextTurn ??= new Promise((resolve) => {
    setImmediate(() => {
      nextTurn = undefined;
      resolve();
    });
  });
  return nextTurn;
}
