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
 * Merges neighbours of `log` in [from, end) in place; what stands behind them moves up.
 *
 * No merge goes across a place, so that nobody gets a value twice or loses half of one; the places are moved along.
 * Looks at the values of the range only. Returns the new position of `end`.
 */
export function mergeNeighbours<T>(
  log: T[],
  range: { readonly from: number; readonly end: number },
  places: Iterable<Place>,
  merging: Merging<T>,
): number {
  const { from, end } = range;
  const ahead = [...places].filter((place) => place.index > from).sort((left, right) => left.index - right.index);
  const merged: T[] = [];
  let next = 0;
  for (let read = from; read < end; ) {
    for (; ahead[next]?.index === read; next += 1) (ahead[next] as Place).index = from + merged.length;
    const rowEnd = findRowEnd(log, read, Math.min(ahead[next]?.index ?? end, end), merging.canMerge);
    merged.push(rowEnd === read + 1 ? (log[read] as T) : merging.merge(log.slice(read, rowEnd)));
    read = rowEnd;
  }
  const gone = end - from - merged.length;
  if (gone === 0) return end;
  for (const place of ahead.slice(next)) place.index -= gone;
  log.splice(from, end - from, ...merged);
  return end - gone;
}

/** Where the row of neighbours that begins at `start` ends. A function of its own: it alone runs once per value. */
function findRowEnd<T>(log: readonly T[], start: number, barrier: number, canMerge: Merging<T>["canMerge"]): number {
  let rowEnd = start + 1;
  while (rowEnd < barrier && canMerge(log[rowEnd - 1] as T, log[rowEnd] as T)) rowEnd += 1;
  return rowEnd;
}
