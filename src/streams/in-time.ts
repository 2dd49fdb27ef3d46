import type { Ticker } from "./alarm.ts";

/**
 * The promise, or a rejection with `late()` if it is not settled after this time. What it brings later is ignored, its
 * rejection too.
 */
export function inTime<T>(
  promise: Promise<T>,
  { clock, ms, late }: { readonly clock: Pick<Ticker, "after">; readonly ms: number; readonly late: () => Error },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = clock.after(ms, () => reject(late()));
    promise.then(resolve, reject).finally(stop);
  });
}
