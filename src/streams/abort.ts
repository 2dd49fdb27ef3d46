/**
 * Lets one signal abort a controller, without leaving a listener behind: long-lived signals serve many runs.
 * Returns a function that ends the link; it may be called any number of times.
 */
export function followSignal(signal: AbortSignal, abort: (reason: unknown) => void): () => void {
  if (signal.aborted) {
    abort(signal.reason);
    return () => undefined;
  }
  const listener = (): void => abort(signal.reason);
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}
