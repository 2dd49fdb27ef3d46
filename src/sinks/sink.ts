import { type AgentEvent, checkOptionNames } from "#domain";
import { callSafely } from "#streams";

/** Consumes events for an effect; never changes them. */
export interface Sink {
  accept(event: AgentEvent): void;
  /**
   * `undefined`: continue. A promise: earlier events are not written yet; it resolves when there is room and never
   * rejects. Awaiting it bounds memory.
   */
  room?(): Promise<void> | undefined;
  /** Writes what is held back and releases resources. Nothing is accepted afterwards. Idempotent. */
  close?(): Promise<void>;
}

/**
 * Combines several sinks. Each gets every event, in order. A sink that throws is removed and `onError` is called: an
 * output that fails does not affect the others.
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
      // A sink may be an async function, although the contract is synchronous.
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
 * Selects the sinks of a displayed run: with a format, only its formatted output; otherwise the text and the progress
 * line. Either way every piece of output is printed exactly once.
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
