/** The arithmetic mean. `NaN` if there are no values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The median. `NaN` if there are no values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  if (sorted.length === 0) return Number.NaN;
  if (sorted.length % 2 === 1) return sorted[Math.floor(half)] as number;
  return ((sorted[half - 1] as number) + (sorted[half] as number)) / 2;
}

/** The result of a Mann-Whitney test. */
export interface MannWhitney {
  /** U of the first group: the number of pairs in which its value is larger; a tie counts half. */
  readonly u: number;
  /** The probability of a difference at least this large if both groups have the same distribution; two-sided. */
  readonly p: number;
}

/** The maximum number of values for the exact distribution; above it the normal approximation is accurate. */
const MAX_EXACT = 60;

/**
 * The Mann-Whitney U test, two-sided: exact, ties included, for up to 60 values; the normal approximation with
 * corrections for ties and continuity above.
 *
 * @example
 * mannWhitney([1, 2, 3], [4, 5, 6]) // { u: 0, p: 0.1 }
 */
export function mannWhitney(first: readonly number[], second: readonly number[]): MannWhitney {
  const n1 = first.length;
  const n2 = second.length;
  if (n1 === 0 || n2 === 0) return { u: 0, p: 1 };
  const { doubled, ties } = doubledRanks([...first, ...second]);
  const sum = doubled.slice(0, n1).reduce((total, rank) => total + rank, 0);
  const u = sum / 2 - (n1 * (n1 + 1)) / 2;
  return { u, p: n1 + n2 <= MAX_EXACT ? exactP(doubled, n1, sum) : normalP(u, n1, n2, ties) };
}

/** The smallest p that is possible with this many values. */
export function smallestP(n1: number, n2: number): number {
  let ways = 1;
  for (let step = 1; step <= n1; step += 1) ways = (ways * (n2 + step)) / step;
  return Math.min(1, 2 / ways);
}

/**
 * Holm's correction: raises the p-values of several tests so that the probability of even one false positive stays
 * below the significance level. In the given order.
 */
export function holm(ps: readonly number[]): readonly number[] {
  const order = ps.map((_, index) => index).sort((a, b) => (ps[a] as number) - (ps[b] as number));
  const adjusted = [...ps];
  let highest = 0;
  for (const [place, index] of order.entries()) {
    highest = Math.max(highest, Math.min(1, (ps[index] as number) * (ps.length - place)));
    adjusted[index] = highest;
  }
  return adjusted;
}

/** The rank of each value, doubled so that shared ranks are integers; and how many values share each rank. */
function doubledRanks(values: readonly number[]): { readonly doubled: number[]; readonly ties: number[] } {
  const order = values.map((_, index) => index).sort((a, b) => (values[a] as number) - (values[b] as number));
  const doubled = values.map(() => 0);
  const ties: number[] = [];
  let start = 0;
  while (start < order.length) {
    let end = start;
    while (end + 1 < order.length && values[order[end + 1] as number] === values[order[start] as number]) end += 1;
    for (let at = start; at <= end; at += 1) doubled[order[at] as number] = start + end + 2;
    ties.push(end - start + 1);
    start = end + 1;
  }
  return { doubled, ties };
}

/**
 * Counts the choices of the first group whose rank sum is at least as far from the expected one as the observed sum.
 * Dynamic programming, value by value, instead of enumerating the choices.
 */
function exactP(doubled: readonly number[], n1: number, found: number): number {
  const total = doubled.reduce((sum, rank) => sum + rank, 0);
  const ways = Array.from({ length: n1 + 1 }, () => new Float64Array(total + 1));
  (ways[0] as Float64Array)[0] = 1;
  for (const rank of doubled) {
    for (let chosen = n1; chosen >= 1; chosen -= 1) {
      const from = ways[chosen - 1] as Float64Array;
      const to = ways[chosen] as Float64Array;
      for (let sum = total; sum >= rank; sum -= 1) to[sum] = (to[sum] as number) + (from[sum - rank] as number);
    }
  }
  const expected = (total * n1) / doubled.length;
  const distance = Math.abs(found - expected) - 1e-9;
  let all = 0;
  let extreme = 0;
  for (const [sum, count] of (ways[n1] as Float64Array).entries()) {
    all += count;
    if (Math.abs(sum - expected) >= distance) extreme += count;
  }
  return Math.min(1, extreme / all);
}

function normalP(u: number, n1: number, n2: number, ties: readonly number[]): number {
  const n = n1 + n2;
  const tied = ties.reduce((sum, count) => sum + (count ** 3 - count), 0);
  const variance = ((n1 * n2) / 12) * (n + 1 - tied / (n * (n - 1)));
  if (variance <= 0) return 1;
  const z = Math.max(0, Math.abs(u - (n1 * n2) / 2) - 0.5) / Math.sqrt(variance);
  return Math.min(1, 2 * upperTail(z));
}

/** The upper tail of the normal distribution, for z >= 0. Accurate to 7.5e-8 (Abramowitz and Stegun, 26.2.17). */
function upperTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
}
