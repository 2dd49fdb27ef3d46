import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutToWidth, displayWidth, plainLine } from "./display-width.ts";

describe("columns", () => {
  it.each<[string, number]>([
    ["", 0],
    ["hello", 5],
    ["世界", 4],
    ["ｆｕｌｌ", 8],
    ["한글", 4],
    ["🙂", 2],
    ["👨‍👩‍👧‍👦", 2],
    ["🇩🇪", 2],
    ["❤️", 2],
    ["e\u0301", 1],
    ["naïve", 5],
    ["→ ✗ …", 5],
    ["👍🏽", 2],
    ["1️⃣", 2],
    ["Привет", 6],
    ["क्‍ष", 2],
  ])("%j takes %i", (text, width) => expect(displayWidth(text)).toBe(width));

  it("a cut text fits, has a mark, and splits no character", () => {
    expect(cutToWidth("abcdef", 4)).toBe("abc…");
    expect(cutToWidth("abcd", 4)).toBe("abcd");
    expect(cutToWidth("世界世界", 5)).toBe("世界…");
    expect(cutToWidth("世界世界", 4)).toBe("世…");
    expect(cutToWidth("ab🙂def", 4)).toBe("ab…");
    expect(cutToWidth("👨‍👩‍👧‍👦x", 2)).toBe("…");
    expect(cutToWidth("abc", 0)).toBe("…");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(20), (text, columns) => {
        const cut = cutToWidth(text, columns);
        expect(displayWidth(cut)).toBeLessThanOrEqual(Math.max(1, columns));
        if (displayWidth(text) <= columns) expect(cut).toBe(text);
      }),
    );
  });

  it("a line stays one line, and a huge text costs no more than a line", () => {
    expect(plainLine(" a\n\nb\tc ", 10)).toBe("a b c");
    expect(plainLine(`${"\u001b[31m".repeat(10)}ab`, 10)).toBe("ab");
    expect(plainLine("x".repeat(50_000_000), 10)).toBe("xxxxxxxxx…");
  });
});
