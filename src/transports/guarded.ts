import { handled } from "#streams";
import type { Transport } from "./transport.ts";

/**
 * Puts the life of a transport in order, whatever its implementation forgets: opened once, closed once, no bytes
 * before `open` or after `close`, one reader, and a reader that waits is let go by `close`.
 */
export function guardTransport(inner: Transport): Transport {
  let opening: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  let isRead = false;
  let letGo: (() => void) | undefined;

  return {
    open() {
      if (closing !== undefined) return Promise.reject(new Error("Transport is closed. Create a new one."));
      opening ??= handled(call(() => inner.open()));
      return opening;
    },
    read() {
      if (opening === undefined) throw new Error("Transport is not open. Call open() first.");
      if (isRead) throw new Error("Transport is being read already. It has one reader.");
      isRead = true;
      return {
        [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
          const source = inner.read()[Symbol.asyncIterator]();
          return {
            next() {
              if (closing !== undefined) return Promise.resolve(END);
              return new Promise((resolve, reject) => {
                letGo = () => resolve(END);
                // What arrives after `close` came too late; a resolved promise does not change any more.
                source.next().then((taken) => resolve(taken.done === true ? END : taken), reject);
              });
            },
            return: () => Promise.resolve(END),
          };
        },
      };
    },
    async write(bytes) {
      if (closing !== undefined) throw new Error("Transport is closed. Nothing was written.");
      if (opening === undefined) throw new Error("Transport is not open. Call open() first. Nothing was written.");
      await opening;
      await inner.write(bytes);
    },
    close() {
      if (closing === undefined) {
        closing = handled(call(() => inner.close()));
        letGo?.();
      }
      return closing;
    },
  };
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** A throw becomes a rejection, so that the caller has one way to see a failure. */
async function call(act: () => Promise<void>): Promise<void> {
  await act();
}
