import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeNeighbours, type ReadPosition } from "./merge-neighbours.ts";

/** Neighbours that begin with the same letter may be merged. */
const merging = {
  canMerge: (left: string, right: string) => left[0] === right[0],
  merge: (values: readonly string[]) => values.join(""),
};

describe("mergeNeighbours", () => {
  it("merges rows in the range and moves up those after it", () => {
    const log = ["a1", "a2", "b1", "a3", "a4", "a5", "c1"];
    const places: ReadPosition[] = [{ index: 0 }, { index: 5 }, { index: 7 }];
    expect(mergeNeighbours(log, { from: 0, end: 5 }, places, merging)).toBe(3);
    expect(log).toEqual(["a1a2", "b1", "a3a4", "a5", "c1"]);
    expect(places.map(({ index }) => index)).toEqual([0, 3, 5]);
  });

  it("every reader still gets the same text from its position on, and no row crosses a position", () => {
    const values = fc.array(fc.constantFrom("a1", "a2", "b1", "c1"), { maxLength: 12 });
    fc.assert(
      fc.property(values, fc.array(fc.nat(12)), fc.nat(12), fc.nat(12), (given, at, left, right) => {
        const log = [...given];
        const clip = (index: number): number => Math.min(index, given.length);
        const from = Math.min(clip(left), clip(right));
        const end = Math.max(clip(left), clip(right));
        const places: ReadPosition[] = at.map((index) => ({ index: clip(index) }));
        const rest = places.map(({ index }) => given.slice(index).join(""));
        const newEnd = mergeNeighbours(log, { from, end }, places, merging);
        expect(places.map(({ index }) => log.slice(index).join(""))).toEqual(rest);
        expect(log.slice(newEnd).join("")).toBe(given.slice(end).join(""));
        expect(log.slice(0, from)).toEqual(given.slice(0, from));
      }),
      { numRuns: 2000 },
    );
  });
});
