import { getMaxListeners, setMaxListeners } from "node:events";

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
  const unallow = allowListener(signal);
  signal.addEventListener("abort", listener, { once: true });
  return () => {
    signal.removeEventListener("abort", listener);
    unallow();
  };
}

/**
 * Node warns of a leak when more than ten listen to one signal. A program may have any number of runs on one: each is
 * taken back when its run is over, so each is allowed for as long as it is there. Returns what ends that, once.
 */
function allowListener(signal: AbortSignal): () => void {
  // A signal of another library may be no event target of Node's; then there is no such warning.
  if (!(signal instanceof EventTarget)) return () => undefined;
  const raise = (by: number): void => {
    const most = mostListeners(signal);
    // No limit is the caller's own choice, and left alone.
    if (most > 0) setMaxListeners(Math.max(1, most + by), signal);
  };
  raise(1);
  let isAllowed = true;
  return () => {
    if (isAllowed) raise(-1);
    isAllowed = false;
  };
}

/** How many may listen before Node warns; 0 for any number. Node 20 throws instead of saying 0. */
function mostListeners(signal: AbortSignal): number {
  try {
    return getMaxListeners(signal);
  } catch {
    return 0;
  }
}
