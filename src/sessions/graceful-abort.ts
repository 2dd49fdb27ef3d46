import type { Clock } from "#domain";
import { followSignal } from "#streams";

/** A signal for the last resort, and the means to fire it. */
export interface GracefulAbort {
  readonly signal: AbortSignal;
  /** Fires it now. */
  force(): void;
  /** The operation has ended: removes timer and listener, and never fires again. */
  release(): void;
}

export interface GracePeriod {
  readonly clock: Clock;
  /** How long the request may take. */
  readonly waitMs: number;
}

/**
 * Follows a signal, but sends a request first. It fires when the request fails, or when `release` was not called within
 * `patienceMs` of the request.
 */
export function createGracefulAbort(
  signal: AbortSignal,
  ask: () => Promise<void>,
  { clock, waitMs }: GracePeriod,
): GracefulAbort {
  const controller = new AbortController();
  let isReleased = false;
  let takeBack = (): void => undefined;

  const force = (): void => {
    takeBack();
    if (!isReleased) controller.abort(signal.reason);
  };

  const unfollow = followSignal(signal, () => {
    takeBack = clock.after(waitMs, force);
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

/** Turns an exception into a rejection. */
async function askSafely(ask: () => Promise<void>): Promise<void> {
  await ask();
}

/** Resolves when the promise has settled, either way, but after `patienceMs` at the latest. */
export function waitGracefully(promise: Promise<unknown>, { clock, waitMs }: GracePeriod): Promise<void> {
  return new Promise((resolve) => {
    const takeBack = clock.after(waitMs, resolve);
    const settle = (): void => {
      takeBack();
      resolve();
    };
    promise.then(settle, settle);
  });
}
