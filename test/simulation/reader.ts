import { type AgentEvent, isDelta } from "#domain";
import type { EventLog } from "#sessions";
import type { VirtualClock } from "#testing";
import type { Dice } from "./dice.ts";

/** A client that follows a run, slowly or fast, and comes back at its cursor when it was cut off. */
export interface SimulatedReader {
  /** Everything it was given, over all its visits. */
  readonly seen: AgentEvent[];
  /** Resolves when it has seen `done`, or nobody has anything more for it. */
  readonly over: Promise<void>;
  /** Goes on at another server. */
  moveTo(log: EventLog): void;
}

export function startReader(
  dice: Dice,
  { log, runId, clock }: { readonly log: EventLog; readonly runId: string; readonly clock: VirtualClock },
): SimulatedReader {
  const seen: AgentEvent[] = [];
  const delayMs = dice.percent(50) ? 0 : dice.upTo(500);
  const leaving = dice.percent(50) ? 15 : 0;
  let server = log;
  let visit = new AbortController();

  const isDone = (): boolean => seen.at(-1)?.type === "done";
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));

  const follow = async (): Promise<void> => {
    visit = new AbortController();
    const { signal } = visit;
    for await (const batch of server.follow(runId, { after: seen.at(-1)?.seq ?? -1, signal })) {
      for (const event of batch) {
        seen.push(event);
        // The connection breaks in the middle of a batch: the rest of it comes again.
        if (dice.percent(leaving) || signal.aborted) return;
      }
      if (delayMs > 0) await wait(delayMs);
    }
  };

  const over = (async () => {
    for (let visits = 0; visits < 400 && !isDone(); visits += 1) {
      await follow();
      if (!isDone()) await wait(20);
    }
  })();

  return {
    seen,
    over,
    moveTo(next) {
      server = next;
      visit.abort();
    },
  };
}

/** What is wrong with what a reader has seen of a log; `undefined`: nothing. */
export function findReaderFault(seen: readonly AgentEvent[], log: readonly AgentEvent[]): string | undefined {
  let next = 0;
  for (const event of seen) {
    const first = (event as { readonly firstSeq?: number }).firstSeq ?? event.seq;
    if (first !== next) return `A reader was given ${first} to ${event.seq} when ${next} was due.`;
    next = event.seq + 1;
  }
  const last = log.at(-1);
  if (last?.type === "done" && next !== last.seq + 1) return `A reader was left at ${next} of ${last.seq + 1} events.`;
  return undefined;
}

/** What is wrong with the events that a reader has seen, compared with those of the log. Deltas may be merged differently. */
export function findForeignEvent(seen: readonly AgentEvent[], log: readonly AgentEvent[]): string | undefined {
  const stored = new Map(log.map((event) => [event.seq, event]));
  const foreign = seen.find(
    (event) => !isDelta(event) && JSON.stringify(stored.get(event.seq)) !== JSON.stringify(event),
  );
  return foreign && `A reader was given an event that is not in the log: ${JSON.stringify(foreign)}`;
}
