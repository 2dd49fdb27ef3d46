/**
 * One listener on a signal for any number of waits. Fifty simultaneous decisions would otherwise add fifty listeners to
 * the run's signal, and Node prints a warning about a possible leak.
 */
export interface AbortWatch {
  readonly signal: AbortSignal;
  /** Calls `onAbort` when the signal fires. The returned function removes it again and may be called more than once. */
  add(onAbort: () => void): () => void;
}

export function createAbortWatch(signal: AbortSignal): AbortWatch {
  const waiting = new Set<() => void>();
  const fire = (): void => {
    // Iterate over a copy: each callback removes itself from the set.
    for (const onAbort of [...waiting]) onAbort();
  };
  return {
    signal,
    add(onAbort) {
      if (waiting.size === 0) signal.addEventListener("abort", fire, { once: true });
      waiting.add(onAbort);
      return () => {
        if (waiting.delete(onAbort) && waiting.size === 0) signal.removeEventListener("abort", fire);
      };
    },
  };
}
