/** Counts what each address does in a minute. */
export interface RateLimit {
  /** Whether the address has used up its share. */
  isOver(address: string): boolean;
  /** Counts one; `true` when that was still within the share. */
  take(address: string): boolean;
}

const MINUTE = 60_000;

/** More addresses than this at once are forgotten together: memory matters more than justice then. */
const MOST_ADDRESSES = 10_000;

/** Creates a limit of so many in any minute that begins with the first of them. */
export function createRateLimit(perMinute: number, now: () => number): RateLimit {
  const windows = new Map<string, { readonly since: number; count: number }>();

  const windowOf = (address: string): { readonly since: number; count: number } => {
    const at = now();
    const found = windows.get(address);
    // One from the future was begun before the clock was set back.
    if (found !== undefined && at >= found.since && at - found.since < MINUTE) return found;
    if (windows.size >= MOST_ADDRESSES) windows.clear();
    const fresh = { since: at, count: 0 };
    windows.set(address, fresh);
    return fresh;
  };

  return {
    isOver: (address) => windowOf(address).count >= perMinute,
    take(address) {
      const window = windowOf(address);
      window.count += 1;
      return window.count <= perMinute;
    },
  };
}
