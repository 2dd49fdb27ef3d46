/** How two neighbours of a log may become one. */
export interface Merging<T> {
  readonly canMerge: (left: T, right: T) => boolean;
  /** Makes one value of two or more neighbours, each of which can be merged with the one before. */
  readonly merge: (values: readonly T[]) => T;
}

/** Somebody's position in a log: the index of the next value he gets. */
export interface Place {
  index: number;
}

/**
 * Merges neighbours of `log` in [from, end) in place, and moves what stands behind them up.
 *
 * No merge goes across a place, so that nobody gets a value twice or loses half of one; the places are moved along.
 * Linear in the values from `from` on. Returns the new position of `end`.
 */
export function mergeNeighbours<T>(
  log: T[],
  range: { readonly from: number; readonly end: number },
  places: Iterable<Place>,
  merging: Merging<T>,
): number {
  const ahead = [...places].filter((place) => place.index > range.from).sort((left, right) => left.index - right.index);
  let write = range.from;
  let newEnd = range.from;
  let run: T[] = [];
  const closeRun = (): void => {
    if (run.length > 0) log[write++] = run.length === 1 ? (run[0] as T) : merging.merge(run);
    run = [];
  };
  const length = log.length;
  let place = ahead.shift();
  for (let read = range.from; read <= length; read += 1) {
    if (place?.index === read || read === range.end) closeRun();
    if (read === range.end) newEnd = write;
    while (place?.index === read) {
      place.index = write;
      place = ahead.shift();
    }
    if (read === length) break;
    const value = log[read] as T;
    if (read >= range.end) {
      log[write++] = value;
      continue;
    }
    const last = run.at(-1);
    if (last !== undefined && !merging.canMerge(last, value)) closeRun();
    run.push(value);
  }
  log.length = write;
  return newEnd;
}
