/** Longer names are not compared: they are hardly ever mistyped, and the comparison is quadratic in their length. */
const MAX_LENGTH = 64;

/**
 * The candidate that a mistyped name most likely meant, or `undefined` if none is close.
 *
 * Close means that at most a third of the letters are wrong, missing, added or swapped, or that the name is the
 * beginning of a candidate, which is closer than any mistake; the shortest such candidate is the closest. Case is ignored. Of equally close candidates the first wins.
 *
 * @example
 * nearestName("cluade-code", ["claude-code", "ndjson"]) // "claude-code"
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length === 0 || name.length > MAX_LENGTH) return undefined;
  const wanted = name.toLowerCase();
  let nearest: string | undefined;
  let nearestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    if (candidate.length > MAX_LENGTH) continue;
    const known = candidate.toLowerCase();
    const distance =
      wanted.length >= 3 && known.startsWith(wanted) ? known.length / (MAX_LENGTH + 1) : editDistance(wanted, known);
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, known.length) / 3));
    if (distance <= allowed && distance < nearestDistance) {
      nearest = candidate;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/** How many letters must be changed, added, removed or swapped with a neighbour to turn one text into the other. */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, right.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
