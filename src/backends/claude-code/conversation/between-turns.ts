import { type Chunk, warningItem } from "#domain";

/** What came between turns: so many chunks are kept for the next one (S0-45). */
const MAX_HELD = 1000;

/** Keeps what a process says while nobody listens; beyond the bound the oldest is dropped, counted and told. */
export interface BetweenTurns {
  add(chunks: readonly Chunk[]): void;
  /** Everything that is kept, and nothing is afterwards. */
  take(): Chunk[];
}

export function createBetweenTurns(): BetweenTurns {
  let held: Chunk[] = [];
  let dropped = 0;
  return {
    add(chunks) {
      // How a process ended between turns is no concern of the next one, which gets another process.
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
