import type { Clock } from "#domain";

/** A clock that stands still until a test moves it. */
export interface VirtualClock extends Clock {
  /**
   * Moves time on by `ms`. Timers that come due fire in the order of their times, those of one moment in the order
   * they were set, also those set on the way. Before each, and at the end, everything waiting in promises runs.
   * Rejects with what a timer throws. Calls that overlap are carried out one after the other.
   */
  advance(ms: number): Promise<void>;
  /** How many timers are set. */
  pending(): number;
}

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

/**
 * Creates a clock for tests: no real time passes.
 *
 * @example
 * const clock = createVirtualClock()
 * clock.after(1000, () => console.log("a second later"))
 * await clock.advance(1000)
 */
export function createVirtualClock(start = 0): VirtualClock {
  // A set keeps the order of insertion, which is what decides between timers of one moment.
  const timers = new Set<Timer>();
  let now = start;
  let moving: Promise<void> = Promise.resolve();

  const nextDue = (until: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) if (timer.at <= until && (next === undefined || timer.at < next.at)) next = timer;
    return next;
  };

  const move = async (ms: number): Promise<void> => {
    const until = now + ms;
    await settle();
    for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
      timers.delete(timer);
      now = Math.max(now, timer.at);
      timer.fire();
      await settle();
    }
    now = until;
  };

  return {
    now: () => now,
    after(ms, fire) {
      // Not a number counts as nothing, as it does for the system's timers.
      const timer = { at: now + (ms > 0 ? ms : 0), fire };
      if (timer.at !== Number.POSITIVE_INFINITY) timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      if (!(ms >= 0) || ms === Number.POSITIVE_INFINITY) {
        return Promise.reject(new RangeError(`Time moves on by a finite number from 0 on, not by ${ms}.`));
      }
      const moved = moving.then(() => move(ms));
      moving = moved.catch(() => undefined);
      return moved;
    },
    pending: () => timers.size,
  };
}

/** One turn of the event loop: all that waits in promises runs first, however long its chain. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
