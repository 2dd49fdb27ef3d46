import type { Clock } from "#domain";

/** A clock whose waits can be cut short. */
export interface WireClock extends Clock {
  /** Fires the timer that is due next, when it is due within so many milliseconds, and moves the time on to it. */
  skip(maxMs: number): boolean;
  /** Takes all timers back. */
  close(): void;
}

interface Timer {
  readonly due: number;
  readonly fire: () => void;
  takeBack: () => void;
}

/** Real time, from which waits are taken out. What callers' code takes of it passes as it does. */
export function createWireClock(real: Clock): WireClock {
  const timers = new Set<Timer>();
  let skippedMs = 0;
  const now = (): number => real.now() + skippedMs;

  const arm = (timer: Timer): void => {
    timer.takeBack = real.after(Math.max(0, timer.due - now()), () => {
      timers.delete(timer);
      timer.fire();
    });
  };

  return {
    now,
    after(ms, fire) {
      const timer: Timer = { due: now() + ms, fire, takeBack: () => undefined };
      timers.add(timer);
      arm(timer);
      return () => {
        timers.delete(timer);
        timer.takeBack();
      };
    },
    skip(maxMs) {
      let first: Timer | undefined;
      for (const timer of timers) if (first === undefined || timer.due < first.due) first = timer;
      if (first === undefined || first.due - now() > maxMs) return false;
      skippedMs += Math.max(0, first.due - now());
      timers.delete(first);
      first.takeBack();
      // The others are due that much earlier, too.
      for (const timer of timers) {
        timer.takeBack();
        arm(timer);
      }
      first.fire();
      return true;
    },
    close() {
      for (const timer of timers) timer.takeBack();
      timers.clear();
    },
  };
}
