import type { Clock } from "#domain";

/** A clock that only a test advances. */
export interface VirtualClock extends Clock {
  /**
   * Advances time by `ms`. Due timers fire in the order of their times, equal ones in the order they were set,
   * including timers set meanwhile. Before each timer, and at the end, all pending microtasks run. Rejects with the
   * error of a timer that throws. Overlapping calls run one after the other.
   */
  advance(ms: number): Promise<void>;
  /** The number of active timers. */
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
  // A set keeps the order of insertion, which decides between timers of the same time.
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
      // `NaN` counts as 0, as in the system's timers.
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

/** One turn of the event loop: all pending microtasks run first, however long their chain. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
