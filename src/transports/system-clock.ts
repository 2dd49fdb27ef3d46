import type { Clock } from "#domain";

/** Node fires a longer timer immediately. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** The clock of this machine. A timer keeps the process alive until it fires or is cancelled. */
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

/** Resolves in the next turn of the event loop, after everything that has already arrived was processed. */
export function systemTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
