/** So many names are remembered; one that comes back after so many others is taken for new. */
const REMEMBERED = 10_000;

/** The names a stream has used, the latest of them, so that an endless stream needs no endless memory. */
export interface RecentNames {
  has(name: string): boolean;
  add(name: string): void;
  /** A name nobody has: the wanted one, or else the wanted one with a number behind. */
  claim(wanted: string): string;
  clear(): void;
}

export function createRecentNames(): RecentNames {
  /** How often each name was wanted: a name that is always the same must not be tried from the first number on. */
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
