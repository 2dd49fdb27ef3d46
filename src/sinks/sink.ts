import { type AgentEvent, checkOptionNames } from "#domain";
import { callSafely } from "#streams";

/** Consumes events for an effect; never changes them. */
export interface Sink {
  accept(event: AgentEvent): void;
  /**
   * `undefined`: go on. A promise: what was accepted has not been written yet; it resolves when there is room, and never
   * rejects. Who waits for it bounds what is held in memory.
   */
  room?(): Promise<void> | undefined;
  /** Writes what is held back and gives back what is open. Nothing is accepted afterwards. Idempotent. */
  close?(): Promise<void>;
}

/**
 * Several sinks as one. Each gets every event, in order; one that throws is left out from then on, and `onError` hears
 * why: an output that fails changes nothing for the others.
 *
 * @example
 * const sink = joinSinks([terminal, log], (error) => console.error(error))
 */
export function joinSinks(sinks: readonly Sink[], onError: (error: unknown) => void): Sink {
  const working = new Set(sinks);
  const leaveOut =
    (sink: Sink) =>
    (error: unknown): void => {
      if (working.delete(sink)) onError(error);
    };
  const roomOf = (sink: Sink): readonly Promise<void>[] => {
    try {
      const room = sink.room?.();
      return room === undefined ? [] : [room.catch(leaveOut(sink))];
    } catch (error) {
      leaveOut(sink)(error);
      return [];
    }
  };
  return {
    accept(event) {
      // A sink may be written as an async function although none is asked for.
      for (const sink of working) callSafely(() => sink.accept(event), leaveOut(sink));
    },
    room() {
      const waits = [...working].flatMap(roomOf);
      return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
    },
    async close() {
      for (const sink of working) {
        try {
          await sink.close?.();
        } catch (error) {
          onError(error);
        }
      }
      working.clear();
    },
  };
}

/**
 * The sinks of a run that is shown: with a format, its formatted output and nothing else; without one, the text and
 * the progress beside it. Whichever it is, every piece of output is printed exactly once.
 *
 * @example
 * const sinks = selectSinks({ terminal, progress })
 */
export function selectSinks(choice: {
  readonly formatted?: Sink | undefined;
  readonly terminal: Sink;
  readonly progress: Sink;
}): readonly Sink[] {
  checkOptionNames(choice, ["formatted", "terminal", "progress"] satisfies (keyof typeof choice)[], "selectSinks");
  return choice.formatted === undefined ? [choice.terminal, choice.progress] : [choice.formatted];
}
