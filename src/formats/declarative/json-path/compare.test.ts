import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compare } from "./compare.ts";
import { createEffort } from "./effort.ts";
import { parsePath } from "./parse-path.ts";
import { selectValues } from "./select.ts";

const RUNS = Number(process.env.MILLRACE_FUZZ_RUNS ?? 5000);
const VALUE = { obj: { x: "y" }, arr: [2, 3] };

function holds(test: string): boolean {
  return selectValues(parsePath(`$[?${test}]`, "path"), VALUE)?.length === 2;
}

describe("comparisons, RFC 9535 section 2.3.5.3", () => {
  it.each([
    ["$.absent1 == $.absent2", true],
    ["$.absent1 <= $.absent2", true],
    ["$.absent == 'g'", false],
    ["$.absent1 != $.absent2", false],
    ["$.absent != 'g'", true],
    ["1 <= 2", true],
    ["1 > 2", false],
    ["13 == '13'", false],
    ["'a' <= 'b'", true],
    ["'a' > 'b'", false],
    ["$.obj == $.arr", false],
    ["$.obj != $.arr", true],
    ["$.obj == $.obj", true],
    ["$.obj != $.obj", false],
    ["$.arr == $.arr", true],
    ["$.arr != $.arr", false],
    ["$.obj == 17", false],
    ["$.obj != 17", true],
    ["$.obj <= $.arr", false],
    ["$.obj < $.arr", false],
    ["$.obj <= $.obj", true],
    ["$.arr <= $.arr", true],
    ["1 <= $.arr", false],
    ["1 >= $.arr", false],
    ["1 > $.arr", false],
    ["1 < $.arr", false],
    ["true <= true", true],
    ["true > true", false],
  ])("%s is %s", (test, expected) => {
    expect(holds(test)).toBe(expected);
  });
});

describe("comparisons, what the table leaves out", () => {
  it.each([
    ["null == null", true],
    ["null <= null", true],
    ["null < 1", false],
    ["null == $.absent", false],
    ["false < true", false],
    ["1 == 1.0", true],
    ["1 == 10e-1", true],
    ["0 == -0", true],
    ["0e1 == 0.0", true],
    ["1 == true", false],
    ["'' < 'a'", true],
    ["'a' < 'ab'", true],
    ["'ab' < 'a'", false],
    ["'a' < 'a'", false],
    ["'Z' < 'a'", true],
    ["'\\u0000' < 'a'", true],
    ["'10' < '9'", true],
    ["'\\uffff' < '\\ud83d\\ude00'", true],
    ["'\\ud83d\\ude00' < '\\uffff'", false],
    ["'\\ud83d\\ude00' < '\\ud83d\\ude01'", true],
    ["$.obj >= $.obj", true],
  ])("%s is %s", (test, expected) => {
    expect(holds(test)).toBe(expected);
  });

  it.each<[string, unknown, unknown, boolean]>([
    ["the order of fields does not matter", { a: 1, b: 2 }, { b: 2, a: 1 }, true],
    ["the order of items does", [1, 2], [2, 1], false],
    ["one field more", { a: 1 }, { a: 1, b: 2 }, false],
    ["as many fields of other names", { a: 1 }, { b: 1 }, false],
    ["an inherited name is no field", { toString: 1 }, { a: 1 }, false],
    ["SEC12: __proto__ as a field, against an object without one", JSON.parse('{"__proto__":{}}'), { a: 1 }, false],
    ["SEC12: __proto__ as a field of both", JSON.parse('{"__proto__":{}}'), JSON.parse('{"__proto__":{}}'), true],
    ["one item more", [1], [1, 2], false],
    ["an empty list and an empty object", [], {}, false],
    ["a list and an object of the same keys", [1], { 0: 1 }, false],
    ["nested", { a: [{ b: null }] }, { a: [{ b: null }] }, true],
    ["nested and different", { a: [{ b: null }] }, { a: [{ b: false }] }, false],
    ["a text and a list of its characters", "a", ["a"], false],
    ["null and an empty object", null, {}, false],
  ])("%s", (_, left, right, expected) => {
    expect(compare("==", left, right, createEffort())).toBe(expected);
    expect(compare("==", right, left, createEffort())).toBe(expected);
    expect(compare("!=", left, right, createEffort())).toBe(!expected);
  });

  it("the order of texts is that of their characters", () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom("a", "\uffff", "\ue000", "😀", "\ud7ff"),
        fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
      ),
      maxLength: 4,
    });
    const points = (word: string) => Array.from(word, (character) => character.codePointAt(0) ?? 0);
    const isBefore = (left: readonly number[], right: readonly number[]): boolean => {
      const at = left.findIndex((point, index) => point !== right[index]);
      return at === -1 ? left.length < right.length : at < right.length && (left[at] ?? 0) < (right[at] ?? 0);
    };
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(compare("<", left, right, createEffort())).toBe(isBefore(points(left), points(right)));
        expect(compare(">=", left, right, createEffort())).toBe(!isBefore(points(left), points(right)));
      }),
      { numRuns: RUNS },
    );
  });
});
