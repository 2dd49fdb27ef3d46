/** Counts the requests of each address per minute. */
export interface RateLimit {
  /** Counts one; `true` if that was still within the limit. */
  take(address: string): boolean;
  /** What was counted here in the current minutes. */
  counts(): ReadonlyMap<string, number>;
}

const MINUTE = 60_000;

/** If there are more addresses than this, all are forgotten: bounded memory matters more than fairness then. */
const MOST_ADDRESSES = 10_000;

/**
 * Creates a limit per minute; a minute starts with the first request. `elsewhere`: how many other servers have counted that
 * share the limit.
 */
export function createRateLimit(
  perMinute: number,
  now: () => number,
  elsewhere: (address: string) => number = () => 0,
): RateLimit {
  const windows = new Map<string, { readonly since: number; count: number }>();

  // A window from the future was opened before the clock was set back.
  const isCurrent = ({ since }: { readonly since: number }, at: number): boolean => at >= since && at - since < MINUTE;

  const windowOf = (address: string): { readonly since: number; count: number } => {
    const at = now();
    const found = windows.get(address);
    if (found !== undefined && isCurrent(found, at)) return found;
    if (windows.size >= MOST_ADDRESSES) windows.clear();
    const fresh = { since: at, count: 0 };
    windows.set(address, fresh);
    return fresh;
  };

  return {
    take(address) {
      const window = windowOf(address);
      window.count += 1;
      return window.count + elsewhere(address) <= perMinute;
    },
    counts() {
      const at = now();
      const current = [...windows].filter(([, window]) => isCurrent(window, at));
      return new Map(current.map(([address, { count }]) => [address, count]));
    },
  };
}
