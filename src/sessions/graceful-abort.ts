import type { Clock } from "#domain";
import { followSignal } from "#streams";

/** A signal that is the last resort, and the means to fire it. */
export interface GracefulAbort {
  readonly signal: AbortSignal;
  /** Fires it now: there is nothing left to be patient for. */
  force(): void;
  /** What it was for is over: no timer and no listener stays behind, and it fires no more. */
  release(): void;
}

export interface Patience {
  readonly clock: Clock;
  /** How long a polite request may take. */
  readonly patienceMs: number;
}

/**
 * Follows a signal, but asks politely first. It fires when asking fails, or when `release` was not called within
 * `patienceMs` of asking.
 */
export function createGracefulAbort(
  signal: AbortSignal,
  ask: () => Promise<void>,
  { clock, patienceMs }: Patience,
): GracefulAbort {
  const controller = new AbortController();
  let isReleased = false;
  let takeBack = (): void => undefined;

  const force = (): void => {
    takeBack();
    if (!isReleased) controller.abort(signal.reason);
  };

  const unfollow = followSignal(signal, () => {
    takeBack = clock.after(patienceMs, force);
    askSafely(ask).catch(force);
  });

  return {
    signal: controller.signal,
    force,
    release() {
      isReleased = true;
      takeBack();
      unfollow();
    },
  };
}

/** What is thrown at once is a rejection like any other. */
async function askSafely(ask: () => Promise<void>): Promise<void> {
  await ask();
}

/** Resolves when the promise has settled, either way, but not later than in `patienceMs`. */
export function waitPatiently(promise: Promise<unknown>, { clock, patienceMs }: Patience): Promise<void> {
  return new Promise((resolve) => {
    const takeBack = clock.after(patienceMs, resolve);
    const settle = (): void => {
      takeBack();
      resolve();
    };
    promise.then(settle, settle);
  });
}
