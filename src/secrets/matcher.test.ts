import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import { KEEP_FIRST, KEEP_NOTHING, type KeptFirst, SecretMatcher } from "./matcher.ts";
import { TextReader } from "./text-reader.ts";

const RUNS = fuzzRuns(2000);

/** Few letters, so that forms overlap often, with each other and in the texts. */
const letters = (...units: readonly string[]) =>
  fc.array(fc.string({ unit: fc.constantFrom(...units), minLength: 1, maxLength: 40 }), { maxLength: 4 });

describe("TextReader: takeClean", () => {
  it.each<[string, KeptFirst]>([
    ["the first characters", KEEP_FIRST],
    ["nothing", KEEP_NOTHING],
  ])("I24 F-A3: forms keep %s: passes only what holds nothing, and goes on like reading step by step", (_, kept) => {
    let skipped = 0;
    const units = fc.constantFrom("a", "b", "\\", "é", "x", "n", "0", "A", "%", "\n", " ", "/");
    fc.assert(
      fc.property(
        letters("a", "b", "\\", "é"),
        letters("a", "b", "n", "x", "0", "A", "/"),
        fc.array(fc.string({ unit: units, maxLength: 9 }), { maxLength: 6 }),
        (plain, encoded, pieces) => {
          const matcher = new SecretMatcher({ plain, encoded }, kept);
          const fast = new TextReader(matcher);
          const slow = new TextReader(matcher);
          for (const piece of pieces) {
            const isClean = fast.takeClean(piece);
            const found = isClean ? [] : fast.read(piece);
            const spans: unknown[] = [];
            piece.split("").forEach((unit, at) => {
              for (const { start, end } of slow.read(unit)) spans.push({ start: start + at, end: end + at });
              if (isClean) expect(slow.held).toBe(0);
            });
            expect(found).toEqual(spans);
            expect(fast.held).toBe(slow.held);
            if (isClean) skipped += 1;
          }
          expect(fast.cut()).toEqual(slow.cut());
        },
      ),
      { numRuns: RUNS },
    );
    expect(skipped).toBeGreaterThan(RUNS / 10);
  });

  it("passes a text without a secret, also when it begins like one", () => {
    const matcher = new SecretMatcher({ plain: ["sk-canary-0123456789-abcdef"], encoded: [] }, KEEP_FIRST);
    expect(new TextReader(matcher).takeClean("Tasks ask for sk and sk")).toBe(true);
    expect(new TextReader(matcher).takeClean("the key is sk-c")).toBe(false);
  });

  it("SEC13 F-A3: takes linear time, and holds little, on breaks that are made to take long", () => {
    const matcher = new SecretMatcher({ plain: [], encoded: ["nnnnnnnnnnnn", "0A0A0A0A0A0A", "abcdefabcdef"] });
    for (const part of ["\\n", "%0A", "%0", "\\", "%", "\n", "a\n", "\\\\x", "n%20"]) {
      const text = `n${part.repeat(500_000)}`;
      const reader = new TextReader(matcher);
      if (!reader.takeClean(text)) reader.read(text);
      expect(reader.open.length, part).toBeLessThan(2000);
    }
  });
});
