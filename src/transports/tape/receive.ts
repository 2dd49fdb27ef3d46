import { followSignal } from "#streams";
import type { ReplayOrder } from "./replay-order.ts";
import type { TapeDelivery } from "./tape.ts";

interface Waiting {
  readonly waitsFor: string;
  readonly signal?: AbortSignal | undefined;
  readonly optional?: boolean;
}

/** Waits for the next delivery with a key. Rejects when the replay ends, or with the signal's reason. */
export function receive(order: ReplayOrder, key: string, waiting: Waiting): Promise<TapeDelivery> {
  const { signal } = waiting;
  return new Promise((resolve, reject) => {
    let unfollow = (): void => undefined;
    const leave = order.await(key, {
      waitsFor: waiting.waitsFor,
      ...(waiting.optional === true && { optional: true }),
      take(entry) {
        unfollow();
        resolve(entry);
      },
      fail(error) {
        unfollow();
        reject(error);
      },
    });
    if (signal === undefined) return;
    unfollow = followSignal(signal, (reason) => {
      leave();
      reject(reason);
    });
  });
}
