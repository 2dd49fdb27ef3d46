import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import { KEEP_FIRST, KEEP_NOTHING, type Kept, SecretMatcher } from "./matcher.ts";

const RUNS = fuzzRuns(2000);

/** Few letters, so that forms overlap often, with each other and in the texts. */
const letters = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom("a", "b", "\\", "é"), minLength: 1, maxLength });

describe("SecretMatcher: skip", () => {
  it.each<[string, Kept]>([
    ["the first characters", KEEP_FIRST],
    ["nothing", KEEP_NOTHING],
  ])("I24: forms keep %s: skips only text without a secret, and reaches the same state as step by step", (_, kept) => {
    let skipped = 0;
    fc.assert(
      fc.property(
        fc.array(letters(40), { maxLength: 4 }),
        fc.array(fc.string({ unit: fc.constantFrom("a", "b", "\\", "é", "x"), maxLength: 9 }), { maxLength: 6 }),
        (forms, pieces) => {
          const matcher = new SecretMatcher(forms, kept);
          let state = 0;
          for (const piece of pieces) {
            const after = matcher.skip(state, piece);
            let isClear = true;
            for (let at = 0; at < piece.length; at += 1) {
              state = matcher.step(state, piece.charCodeAt(at));
              const { held, found, cut } = matcher;
              isClear &&= held[state] === 0 && found[state] === 0 && cut[state] === 0;
            }
            if (after === undefined) continue;
            skipped += 1;
            expect(after).toBe(state);
            expect(isClear).toBe(true);
          }
        },
      ),
      { numRuns: RUNS },
    );
    expect(skipped).toBeGreaterThan(RUNS / 10);
  });

  it("skips a text without a secret, even if it begins like one", () => {
    const matcher = new SecretMatcher(["sk-canary-0123456789-abcdef"], KEEP_FIRST);
    expect(matcher.skip(0, "Tasks ask for sk and sk")).not.toBeUndefined();
    expect(matcher.skip(0, "the key is sk-c")).toBeUndefined();
  });
});
