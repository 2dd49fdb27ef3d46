import { getMaxListeners, setMaxListeners } from "node:events";

/**
 * Calls `abort` when the signal fires, without leaking a listener: long-lived signals serve many runs. Returns a
 * function that ends the link; it may be called any number of times.
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
 * Node warns of a leak when a signal has more than ten listeners. A program may start any number of runs with one
 * signal; each listener is removed when its run ends, so the limit is raised for each. Returns a function that undoes
 * this, once.
 */
function allowListener(signal: AbortSignal): () => void {
  // A signal of another library may not be an `EventTarget` of Node; then there is no such warning.
  if (!(signal instanceof EventTarget)) return () => undefined;
  const raise = (by: number): void => {
    const most = mostListeners(signal);
    // "No limit" is the caller's choice and stays.
    if (most > 0) setMaxListeners(Math.max(1, most + by), signal);
  };
  raise(1);
  let isAllowed = true;
  return () => {
    if (isAllowed) raise(-1);
    isAllowed = false;
  };
}

/** The number of listeners at which Node warns; 0 for no limit. Node 20 throws instead of returning 0. */
function mostListeners(signal: AbortSignal): number {
  try {
    return getMaxListeners(signal);
  } catch {
    return 0;
  }
}

/**
 * Creates a controller that aborts when one of the signals does, and may be aborted by itself. Any number of tools may
 * listen to its signal; that is not a leak.
 */
export function createAbortController(...signals: readonly AbortSignal[]): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  for (const signal of signals) followSignal(signal, (reason) => controller.abort(reason));
  return controller;
}
