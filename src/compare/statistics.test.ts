import { describe, expect, it } from "vitest";
import { holm, mannWhitney, median, smallestP } from "./statistics.ts";

/** Computes p by enumerating every choice of the first group. */
function countedP(first: readonly number[], second: readonly number[]): number {
  const all = [...first, ...second];
  const u = (chosen: readonly number[], rest: readonly number[]) =>
    chosen
      .flatMap((a) => rest.map((b): number => (a > b ? 1 : a === b ? 0.5 : 0)))
      .reduce((sum, part) => sum + part, 0);
  const middle = (first.length * second.length) / 2;
  const distance = Math.abs(u(first, second) - middle);
  let ways = 0;
  let extreme = 0;
  for (let mask = 0; mask < 2 ** all.length; mask += 1) {
    const chosen = all.filter((_, index) => (mask & (1 << index)) !== 0);
    if (chosen.length !== first.length) continue;
    ways += 1;
    const rest = all.filter((_, index) => (mask & (1 << index)) === 0);
    if (Math.abs(u(chosen, rest) - middle) >= distance - 1e-9) extreme += 1;
  }
  return extreme / ways;
}

describe("mannWhitney (S3-37)", () => {
  // Critical values of U, two-sided at 0.05, as printed in every textbook: the largest U that is still significant.
  it.each([
    [4, 4, 0],
    [5, 5, 2],
    [6, 6, 5],
    [7, 7, 8],
    [8, 8, 13],
    [5, 8, 6],
    [10, 10, 23],
    [12, 12, 37],
    [15, 15, 64],
    [20, 20, 127],
    [9, 16, 37],
  ])(
    "agrees with the published table for %i and %i values: U = %i is significant, one more is not",
    (n1, n2, critical) => {
      expect(mannWhitney(...groupsWith(n1, n2, critical)).p).toBeLessThanOrEqual(0.05);
      expect(mannWhitney(...groupsWith(n1, n2, critical + 1)).p).toBeGreaterThan(0.05);
    },
  );

  it.each([
    [
      [1, 2, 3],
      [4, 5, 6],
    ],
    [
      [1, 1, 2, 5],
      [1, 3, 3],
    ],
    [
      [0.5, 0.5, 0.5, 1, 1],
      [0.5, 0.5, 1, 0, 0],
    ],
    [
      [3, 3, 3],
      [3, 3, 3],
    ],
    [[7], [1, 2, 3, 9]],
  ])("is exact, also with ties: %j and %j", (first, second) => {
    expect(mannWhitney(first, second).p).toBeCloseTo(countedP(first, second), 10);
  });

  it("counts the pairs in which the first is larger, half for a tie", () => {
    expect(mannWhitney([2, 3], [1, 2, 5]).u).toBe(1 + 0.5 + 2);
  });

  it("the switch to the normal approximation is continuous", () => {
    // Above 60 values; the exact p of this U is 0.0497 (counted with the exact way for 30 and 30: 0.0497).
    const exact = mannWhitney(...groupsWith(30, 30, 317)).p;
    const approximate = mannWhitney(...groupsWith(31, 31, 341)).p;
    expect(exact).toBeCloseTo(0.05, 2);
    expect(approximate).toBeCloseTo(0.05, 2);
  });

  it("finds no difference where there is none", () => {
    expect(mannWhitney([], [1, 2]).p).toBe(1);
    const same = Array.from({ length: 40 }, () => 1);
    expect(mannWhitney(same, same).p).toBe(1);
  });
});

/** Two groups without ties that have this U. */
function groupsWith(n1: number, n2: number, u: number): readonly [number[], number[]] {
  const second = Array.from({ length: n2 }, (_, index) => (index + 1) * 1000);
  let left = u;
  const first = Array.from({ length: n1 }, (_, index) => {
    const beaten = Math.min(n2, left);
    left -= beaten;
    return beaten * 1000 + 500 + index;
  });
  return [first, second];
}

describe("other statistics", () => {
  it("smallestP is the p value of two groups without overlap", () => {
    expect(smallestP(5, 5)).toBeCloseTo(2 / 252, 12);
    expect(smallestP(3, 3)).toBeCloseTo(mannWhitney([1, 2, 3], [4, 5, 6]).p, 12);
  });

  it("holm multiplies p values by the number of remaining tests, and keeps their order", () => {
    expect(holm([0.01, 0.04, 0.03, 0.005])).toEqual([0.03, 0.06, 0.06, 0.02]);
    expect(holm([0.5, 0.9])).toEqual([1, 1]);
    expect(holm([])).toEqual([]);
  });

  it("median", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
  });
});
