import { checkOptionNames } from "#domain";
import { createBytePipe } from "./byte-pipe.ts";
import { guardTransport } from "./guarded.ts";
import type { Transport } from "./transport.ts";

/**
 * Two transports joined in memory: what one writes, the other reads. For tests, and for two parts of one process.
 *
 * Closing one side ends the other's reading after the bytes already written, and makes its writes reject.
 *
 * @example
 * const [near, far] = createLinkedTransports()
 * await Promise.all([near.open(), far.open()])
 * await near.write(bytes)
 */
export function createLinkedTransports(options: { readonly capacityBytes?: number } = {}): [Transport, Transport] {
  checkOptionNames(options, ["capacityBytes"], "createLinkedTransports");
  const there = createBytePipe(options.capacityBytes);
  const back = createBytePipe(options.capacityBytes);
  const side = (incoming: typeof there, outgoing: typeof there): Transport =>
    guardTransport({
      open: () => Promise.resolve(),
      read: () => incoming,
      write: (bytes) => outgoing.write(bytes),
      close: () => {
        incoming.destroy();
        outgoing.end();
        return Promise.resolve();
      },
    });
  return [side(back, there), side(there, back)];
}
