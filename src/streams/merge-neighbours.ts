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
  const { from, end } = range;
  const ahead = [...places].filter((place) => place.index > from).sort((left, right) => left.index - right.index);
  const length = log.length;
  let write = from;
  let newEnd = from;
  let nextPlace = 0;
  /** Where a row of neighbours has to end at the latest. */
  const barrierAfter = (read: number): number => {
    const place = ahead[nextPlace]?.index ?? length;
    return read < end ? Math.min(place, end) : place;
  };
  for (let read = from; read <= length; ) {
    if (read === end) newEnd = write;
    for (; ahead[nextPlace]?.index === read; nextPlace += 1) (ahead[nextPlace] as Place).index = write;
    if (read === length) break;
    const barrier = barrierAfter(read);
    const rowEnd = read < end ? findRowEnd(log, read, barrier, merging.canMerge) : read + 1;
    log[write++] = rowEnd === read + 1 ? (log[read] as T) : merging.merge(log.slice(read, rowEnd));
    read = rowEnd;
  }
  log.length = write;
  return newEnd;
}

/** Where the row of neighbours that begins at `start` ends. A function of its own: it alone runs once per value. */
function findRowEnd<T>(log: readonly T[], start: number, barrier: number, canMerge: Merging<T>["canMerge"]): number {
  let rowEnd = start + 1;
  while (rowEnd < barrier && canMerge(log[rowEnd - 1] as T, log[rowEnd] as T)) rowEnd += 1;
  return rowEnd;
}
