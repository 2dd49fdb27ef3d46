/** One call of one seam, by its number from 1 on. */
export interface Strike {
  readonly seam: string;
  readonly call: number;
}

/** Counts the calls of every seam, and lets one of them fail. */
export interface Fault {
  /** Counts a call. `true`: this is the one that fails. */
  reach(seam: string): boolean;
  /** Counts a call, and throws when it is the one. */
  strike(seam: string): void;
  /** The same function, which may fail before it does anything. */
  wrap<Args extends readonly unknown[], Value>(
    seam: string,
    call: (...args: Args) => Promise<Value>,
  ): (...args: Args) => Promise<Value>;
  /** How often each seam was called. */
  readonly counts: ReadonlyMap<string, number>;
  /** Whether the call to fail was made. */
  readonly hasStruck: boolean;
}

/** What stands in every failure made here, so that it is found wherever it is told. */
export const ON_PURPOSE = "failed on purpose";

/** Creates a fault. Without a strike nothing fails: the calls are counted. */
export function createFault(strike?: Strike): Fault {
  const counts = new Map<string, number>();
  let hasStruck = false;
  const reach = (seam: string): boolean => {
    const call = (counts.get(seam) ?? 0) + 1;
    counts.set(seam, call);
    const isIt = seam === strike?.seam && call === strike.call;
    hasStruck ||= isIt;
    return isIt;
  };
  const hit = (seam: string): void => {
    if (reach(seam)) throw new Error(`${seam} ${ON_PURPOSE}`);
  };
  return {
    reach,
    strike: hit,
    wrap:
      (seam, call) =>
      async (...args) => {
        hit(seam);
        return call(...args);
      },
    counts,
    get hasStruck() {
      return hasStruck;
    },
  };
}
