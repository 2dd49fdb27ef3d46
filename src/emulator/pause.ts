import type { Clock } from "#domain";
import { followSignal } from "#streams";

/** Waits; rejects with the signal's reason as soon as nobody waits any more. Leaves no timer and no listener behind. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let unfollow = (): void => undefined;
    const takeBack = clock.after(ms, () => {
      unfollow();
      resolve();
    });
    unfollow = followSignal(signal, (reason) => {
      takeBack();
      reject(reason);
    });
  });
}

/** Waits for the end: rejects when the signal is aborted, and never resolves. */
export function waitForAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => followSignal(signal, reject));
}
