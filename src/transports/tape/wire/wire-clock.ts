import type { Clock } from "#domain";

/** A clock whose waits can be cut short. */
export interface WireClock extends Clock {
  /** If the next timer is due within this many milliseconds, fires it and advances the time to it. */
  skip(maxMs: number): boolean;
  /** Cancels all timers. */
  close(): void;
}

interface Timer {
  readonly due: number;
  readonly fire: () => void;
  takeBack: () => void;
}

/** Real time minus the skipped waits. While the caller's code runs, time passes normally. */
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
      // The other timers become due earlier by the same amount.
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
