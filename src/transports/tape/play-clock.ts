import type { Clock, Random } from "#domain";
import type { ReplayOrder } from "./replay-order.ts";

/** A recorded timer matches one that is set now if their durations differ by no more than this. */
const NEAR_MS = 250;

/**
 * The clock of a tape: returns the recorded times and fires the recorded timers in their place. Otherwise time does not
 * pass. `shiftMs` shifts all times.
 */
export function playClock(order: ReplayOrder, shiftMs: number): Clock {
  const { entries, header, last } = order.tape;
  let group = -1;
  let position = 0;
  let elapsed = 0;
  return {
    now() {
      const { next } = order;
      if (next !== group) {
        group = next;
        position = 0;
      }
      const readings = (entries[next] ?? last)?.now;
      const reading = readings?.[position];
      position += 1;
      // More readings than were recorded: no time has passed.
      elapsed = reading ?? Math.max(elapsed, entries[next - 1]?.at ?? 0);
      return header.startedAt + elapsed + shiftMs;
    },
    after(ms, fire) {
      return order.await("timer", {
        waitsFor: `${ms} ms to pass`,
        optional: true,
        rank(entry) {
          if (entry.type !== "timer") return undefined;
          const distance = Math.abs(entry.ms - ms);
          return distance <= Math.max(NEAR_MS, ms / 20) ? distance : undefined;
        },
        take: fire,
        fail: () => undefined,
      });
    },
  };
}

/** The randomness of a tape: the recorded values, in the same order. */
export function playRandom(order: ReplayOrder): Random {
  const { entries, last } = order.tape;
  const all = last === undefined ? entries : [...entries, last];
  const ids = all.flatMap((entry) => entry.ids ?? []);
  const draws = all.flatMap((entry) => entry.draws ?? []);
  let id = 0;
  let draw = 0;
  return {
    next: () => draws[draw++] ?? 0.5,
    id: () => ids[id++] ?? `tape-${id}`,
  };
}
