/**
 * One listener on a signal for any number of waits. Fifty decisions at once would otherwise hang fifty listeners on
 * the run's signal, which Node takes for a leak and says so on stderr.
 */
export interface AbortWatch {
  readonly signal: AbortSignal;
  /** Calls `onAbort` when the signal fires. The returned function takes it back, and may be called again. */
  add(onAbort: () => void): () => void;
}

export function createAbortWatch(signal: AbortSignal): AbortWatch {
  const waiting = new Set<() => void>();
  const fire = (): void => {
    // A copy: whoever is called takes itself out.
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
