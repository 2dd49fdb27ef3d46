import type { AgentEvent } from "#domain";

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
 * const sink = joinSinks([createTerminalSink(screen), createLogSink(log)], (error) => console.error(error))
 */
export function joinSinks(sinks: readonly Sink[], onError: (error: unknown) => void): Sink {
  const working = new Set(sinks);
  const attempt = <Value>(sink: Sink, act: () => Value): Value | undefined => {
    try {
      return act();
    } catch (error) {
      working.delete(sink);
      onError(error);
      return undefined;
    }
  };
  return {
    accept(event) {
      for (const sink of working) attempt(sink, () => sink.accept(event));
    },
    room() {
      const waits = [...working].flatMap((sink) => attempt(sink, () => sink.room?.()) ?? []);
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
 */
export function selectSinks(choice: {
  readonly formatted?: Sink | undefined;
  readonly terminal: Sink;
  readonly progress: Sink;
}): readonly Sink[] {
  return choice.formatted === undefined ? [choice.terminal, choice.progress] : [choice.formatted];
}
