/** Gives messages ids that are unique within one stream. */
export interface MessageIds {
  /** The vendor's id, if it is free; otherwise it with a number behind. Without one, a number of our own. */
  claim(vendorId: string | undefined): string;
  /** The message never came to be, and its deltas were taken back: its id may be used again. */
  release(vendorId: string | undefined): void;
}

/** So many ids are remembered. An id that comes back after so many messages is not told apart. */
const REMEMBERED = 1000;

/**
 * Creates the ids of one stream. Hosts that imitate the API are known to give every message the same id, and readers
 * replace a message by its id.
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
