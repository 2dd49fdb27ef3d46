import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HOSTILE_TEXTS, isHarmless, nameOf } from "../../test/e2e/hostile-texts.ts";
import { fuzzRuns } from "../../test/effort.ts";
import { createSafeText, escapeUnsafe, plainText } from "./safe-text.ts";

const numRuns = Math.min(fuzzRuns(5000), 100_000);

function inPieces(pieces: readonly string[]): string {
  const safe = createSafeText();
  return pieces.map((piece) => safe.push(piece)).join("") + safe.end();
}

describe("SEC11: untrusted text on a terminal", () => {
  it("the corpus is large, every text in it differs, and the check detects each", () => {
    expect(new Set(HOSTILE_TEXTS).size).toBeGreaterThanOrEqual(100);
    for (const text of HOSTILE_TEXTS) expect([nameOf(text), isHarmless(text)]).toEqual([nameOf(text), false]);
  });

  it.each(HOSTILE_TEXTS.map((text) => [nameOf(text), text]))("%s: harmless, however it is split", (_, text) => {
    const around = `before ${text} after`;
    const safe = plainText(around);
    expect(isHarmless(safe)).toBe(true);
    expect(safe.startsWith("before ")).toBe(true);
    expect(safe.endsWith("after")).toBe(true);
    expect(inPieces(around.split(""))).toBe(safe);
    for (let first = 0; first <= around.length; first += 1) {
      for (let second = first; second <= around.length; second += 1) {
        const pieces = [around.slice(0, first), around.slice(first, second), around.slice(second)];
        expect(inPieces(pieces)).toBe(safe);
      }
    }
  });

  it("any text, however split: harmless, the same, and safe text is unchanged", () => {
    const nasty = fc.oneof(
      fc.constantFrom(...HOSTILE_TEXTS),
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.constantFrom(
        "\u001b",
        "\u009b",
        "[",
        "]",
        "2J",
        "m",
        "31",
        ";",
        "\r",
        "\u202e",
        "\u200d",
        "\ufe0f",
        "\ud83d",
        "\ude42",
      ),
    );
    fc.assert(
      fc.property(fc.array(nasty, { maxLength: 8 }), (parts) => {
        const safe = plainText(parts.join(""));
        expect(inPieces(parts)).toBe(safe);
        expect(isHarmless(safe)).toBe(true);
        expect(plainText(safe)).toBe(safe);
      }),
      { numRuns },
    );
  });

  it("readable text is unchanged", () => {
    for (const text of [
      "Grüße, 世界 🙂\n\tcode: a[0] && b\n",
      "👨‍👩‍👧‍👦 ❤️‍🔥 1️⃣ 🏳️‍🌈 🇩🇪",
      "می‌خواهم", // a word that needs its joiner
      "क्‍ष",
      "café z͟a͟l͟g͟o͟",
    ]) {
      expect(plainText(text)).toBe(text);
      expect(inPieces(text.split(""))).toBe(text);
    }
  });

  it("colours are removed; other sequences stay visible as text", () => {
    expect(plainText("\u001b[1;31mred\u001b[0m \u001b[38;5;12mblue\u001b[m")).toBe("red blue");
    expect(plainText("\u001b]0;title\u0007Hello")).toBe("]0;titleHello");
    expect(plainText("\u001b[2Jgone?")).toBe("[2Jgone?");
    expect(plainText(`\u001b[${"1;".repeat(40)}m`)).toContain("1;1;");
  });

  it("half a character becomes a replacement character, and never joins another half", () => {
    expect(plainText("a\ud83db")).toBe("a\ufffdb");
    expect(plainText("a\ude42")).toBe("a\ufffd");
    expect(inPieces(["a\ud83d", "\ude42"])).toBe("a🙂");
    expect(inPieces(["a\ud83d"])).toBe("a\ufffd");
  });

  it("millions of characters take linear time", () => {
    for (const text of ["\u001b[", "\u001b[1;", "\u009b1", "\ud83d", "\u200d"]) {
      expect(isHarmless(plainText(text.repeat(300_000)))).toBe(true);
    }
  });

  it("escaped JSON has the same meaning", () => {
    for (const text of HOSTILE_TEXTS) {
      const json = JSON.stringify({ text });
      expect(isHarmless(escapeUnsafe(json))).toBe(true);
      expect(JSON.parse(escapeUnsafe(json))).toEqual({ text });
    }
  });
});
