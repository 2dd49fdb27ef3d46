import { type Chunk, warningItem } from "#domain";

/** The maximum number of chunks between turns that are kept for the next one (S0-45). */
const MAX_HELD = 1000;

/**
 * Keeps a process's output between turns; beyond the limit the oldest chunks are dropped, and a warning reports how
 * many.
 */
export interface BetweenTurns {
  add(chunks: readonly Chunk[]): void;
  /** Removes and returns everything that is kept. */
  take(): Chunk[];
}

export function createBetweenTurns(): BetweenTurns {
  let held: Chunk[] = [];
  let dropped = 0;
  return {
    add(chunks) {
      // How a process ended between turns does not concern the next turn, which gets another process.
      for (const chunk of chunks) if (chunk.type !== "error" || !chunk.terminal) held.push(chunk);
      if (held.length <= MAX_HELD) return;
      dropped += held.length - MAX_HELD;
      held = held.slice(-MAX_HELD);
    },
    take() {
      const taken = held;
      held = [];
      if (dropped === 0) return taken;
      const warning = warningItem({
        code: "events-dropped",
        message: `${dropped} events that came between two turns were dropped; the newest ${MAX_HELD} are kept.`,
        context: { dropped },
      });
      dropped = 0;
      return [warning, ...taken];
    },
  };
}
