/** How neighbouring values of a log can be merged. */
export interface Merging<T> {
  readonly canMerge: (left: T, right: T) => boolean;
  /** Merges two or more neighbours, each of which can be merged with the previous one. */
  readonly merge: (values: readonly T[]) => T;
}

/** A position in a log: the index of the next value to deliver. */
export interface ReadPosition {
  index: number;
}

/**
 * Merges neighbours of `log` in [from, end) in place; later values move up.
 *
 * No merge crosses a place, so that no reader receives a value twice or loses half of one; the places are adjusted.
 * Only the values of the range are examined. Returns the new position of `end`.
 */
export function mergeNeighbours<T>(
  log: T[],
  range: { readonly from: number; readonly end: number },
  positions: Iterable<ReadPosition>,
  merging: Merging<T>,
): number {
  const { from, end } = range;
  const ahead = [...positions]
    .filter((position) => position.index > from)
    .sort((left, right) => left.index - right.index);
  const merged: T[] = [];
  let next = 0;
  for (let read = from; read < end; ) {
    for (; ahead[next]?.index === read; next += 1) (ahead[next] as ReadPosition).index = from + merged.length;
    const rowEnd = findRowEnd(log, read, Math.min(ahead[next]?.index ?? end, end), merging.canMerge);
    merged.push(rowEnd === read + 1 ? (log[read] as T) : merging.merge(log.slice(read, rowEnd)));
    read = rowEnd;
  }
  const gone = end - from - merged.length;
  if (gone === 0) return end;
  for (const position of ahead.slice(next)) position.index -= gone;
  log.splice(from, end - from, ...merged);
  return end - gone;
}

/**
 * The end of the row of mergeable neighbours that begins at `start`. A separate function, because only this runs once
 * per value.
 */
function findRowEnd<T>(log: readonly T[], start: number, barrier: number, canMerge: Merging<T>["canMerge"]): number {
  let rowEnd = start + 1;
  while (rowEnd < barrier && canMerge(log[rowEnd - 1] as T, log[rowEnd] as T)) rowEnd += 1;
  return rowEnd;
}
