import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addUsage, mergeUsage, readCount, subtractUsage, type Usage, USAGE_FIELDS } from "./usage.ts";

const usage = fc.record(
  Object.fromEntries(USAGE_FIELDS.map((field) => [field, fc.nat(1_000_000)])) as Record<
    keyof Usage,
    fc.Arbitrary<number>
  >,
  { requiredKeys: [] },
) as fc.Arbitrary<Usage>;

describe("usage", () => {
  it("S1-127: unknown is not zero: an unknown count stays absent", () => {
    expect(addUsage({ inputTokens: 5 }, { inputTokens: 0, outputTokens: 2 })).toEqual({
      inputTokens: 5,
      outputTokens: 2,
    });
    expect(addUsage({}, {})).toEqual({});
  });

  it("adds in any order and grouping", () => {
    fc.assert(
      fc.property(usage, usage, usage, (a, b, c) => {
        expect(addUsage(a, b)).toEqual(addUsage(b, a));
        expect(addUsage(addUsage(a, b), c)).toEqual(addUsage(a, addUsage(b, c)));
        expect(addUsage(a, {})).toEqual(a);
      }),
    );
  });

  it("C19: the difference of two totals is what came between", () => {
    fc.assert(
      fc.property(usage, usage, (a, b) => {
        expect(subtractUsage(addUsage(a, b), a)).toMatchObject(b);
      }),
    );
    expect(subtractUsage({ inputTokens: 3 }, { inputTokens: 10 })).toEqual({ inputTokens: 3 });
  });

  it("a later count for the same call applies, field by field", () => {
    expect(mergeUsage({ inputTokens: 25, outputTokens: 1 }, { outputTokens: 12 })).toEqual({
      inputTokens: 25,
      outputTokens: 12,
    });
  });

  it("accepts only valid counts", () => {
    expect([3, 0, -1, Number.NaN, Number.POSITIVE_INFINITY, "3", null, true, {}].map(readCount)).toEqual([
      3,
      0,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
