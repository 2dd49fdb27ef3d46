/** The number of names that are remembered; a name that returns after this many others counts as new. */
const REMEMBERED = 10_000;

/** The most recent names of a stream. Bounded, because a stream may be endless. */
export interface RecentNames {
  has(name: string): boolean;
  add(name: string): void;
  /** Returns an unused name: the wanted one, or the wanted one with a number appended. */
  claim(wanted: string): string;
  clear(): void;
}

export function createRecentNames(): RecentNames {
  /** How often each name was requested, so that a name that always repeats does not retry from the first number. */
  const names = new Map<string, number>();

  const remember = (name: string, times: number): void => {
    names.delete(name);
    names.set(name, times);
    if (names.size <= REMEMBERED) return;
    const [oldest] = names.keys();
    if (oldest !== undefined) names.delete(oldest);
  };

  return {
    has: (name) => names.has(name),
    add: (name) => remember(name, 1),
    claim(wanted) {
      let times = (names.get(wanted) ?? 0) + 1;
      let claimed = wanted;
      if (times > 1) {
        while (names.has(`${wanted}#${times}`)) times += 1;
        claimed = `${wanted}#${times}`;
        remember(claimed, 1);
      }
      remember(wanted, times);
      return claimed;
    },
    clear: () => names.clear(),
  };
}
