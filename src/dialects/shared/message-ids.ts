/** Creates message ids that are unique within one stream. */
export interface MessageIds {
  /** The vendor's id if it is unused, otherwise with a number appended; without a vendor's id, a number of our own. */
  claim(vendorId: string | undefined): string;
  /** Frees the id of a message that was never finished and whose deltas were retracted. */
  release(vendorId: string | undefined): void;
}

/** The number of ids that are remembered. An id that returns after this many messages counts as new. */
const REMEMBERED = 1000;

/**
 * Creates the ids of one stream. Some hosts that imitate the API use the same id for every message, and readers replace
 * a message by its id.
 */
export function createMessageIds(prefix: string): MessageIds {
  const taken = new Map<string, number>();
  let unnamed = 0;
  return {
    claim(vendorId) {
      if (vendorId === undefined || vendorId === "") {
        unnamed += 1;
        return `${prefix}-${unnamed}`;
      }
      const times = (taken.get(vendorId) ?? 0) + 1;
      taken.delete(vendorId);
      taken.set(vendorId, times);
      const [oldest] = taken.keys();
      if (taken.size > REMEMBERED && oldest !== undefined) taken.delete(oldest);
      return times === 1 ? vendorId : `${vendorId}#${times}`;
    },
    release(vendorId) {
      const times = vendorId === undefined ? undefined : taken.get(vendorId);
      if (vendorId === undefined || times === undefined) return;
      if (times === 1) taken.delete(vendorId);
      else taken.set(vendorId, times - 1);
    },
  };
}
