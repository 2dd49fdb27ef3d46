import type { Clock, Random } from "#domain";
import type { Stage } from "./replay-order.ts";

/** A timer that fired fits one that is set now, when it is so little longer or shorter. */
const NEAR_MS = 250;

/**
 * The clock of a tape: says what it said then, and fires the timers that fired then, in their place. Time does not pass
 * otherwise. `shiftMs` moves all of it.
 */
export function playClock(stage: Stage, shiftMs: number): Clock {
  const { entries, header, last } = stage.tape;
  let group = -1;
  let position = 0;
  let said = 0;
  return {
    now() {
      const { next } = stage;
      if (next !== group) {
        group = next;
        position = 0;
      }
      const readings = (entries[next] ?? last)?.now;
      const reading = readings?.[position];
      position += 1;
      // More is read than was: no time has passed.
      said = reading ?? Math.max(said, entries[next - 1]?.at ?? 0);
      return header.startedAt + said + shiftMs;
    },
    after(ms, fire) {
      return stage.await("timer", {
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

/** The chance of a tape: what it gave then, in the same order. */
export function playRandom(stage: Stage): Random {
  const { entries, last } = stage.tape;
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
