/** Counts the requests of each address per minute. */
export interface RateLimit {
  /** Counts one; `true` if that was still within the limit. */
  take(address: string): boolean;
}

const MINUTE = 60_000;

/** If there are more addresses than this, all are forgotten: bounded memory matters more than fairness then. */
const MOST_ADDRESSES = 10_000;

/** Creates a limit per minute; a minute starts with the first request. */
export function createRateLimit(perMinute: number, now: () => number): RateLimit {
  const windows = new Map<string, { readonly since: number; count: number }>();

  const windowOf = (address: string): { readonly since: number; count: number } => {
    const at = now();
    const found = windows.get(address);
    // A window from the future was opened before the clock was set back.
    if (found !== undefined && at >= found.since && at - found.since < MINUTE) return found;
    if (windows.size >= MOST_ADDRESSES) windows.clear();
    const fresh = { since: at, count: 0 };
    windows.set(address, fresh);
    return fresh;
  };

  return {
    take(address) {
      const window = windowOf(address);
      window.count += 1;
      return window.count <= perMinute;
    },
  };
}
