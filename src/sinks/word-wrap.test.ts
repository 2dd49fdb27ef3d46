import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth } from "./display-width.ts";
import { createWordWrap } from "./word-wrap.ts";

const wrap = (text: string, columns = 20, size = text.length): string => {
  const filter = createWordWrap(() => columns);
  let shown = "";
  for (let at = 0; at < text.length; at += Math.max(1, size)) shown += filter.push(text.slice(at, at + size));
  return shown + filter.end();
};

describe("F-F wrapping at words", () => {
  it.each([
    ["words", "The quick brown fox jumps over it", "The quick brown fox\njumps over it"],
    ["a word that just fits", "12345678901234 67890 x", "12345678901234 67890\nx"],
    ["a list stands below its text", "• one two three four five", "• one two three four\n  five"],
    ["a numbered list", "12. one two three four five", "12. one two three\n    four five"],
    ["a quote keeps its mark", "│ one two three four five", "│ one two three four\n│ five"],
    ["no blanks: between characters", "中文字符中文字符中文字符", "中文字符中文字符中文\n字符"],
    ["not before a closing mark", "中文字符中文字符中文。字", "中文字符中文字符中\n文。字"],
    ["pictures are two columns", "🙂🙂 🙂🙂 🙂🙂 🙂🙂🙂🙂 x", "🙂🙂 🙂🙂 🙂🙂\n🙂🙂🙂🙂 x"],
    [
      "colours take no room",
      "\u001b[1mThe quick\u001b[22m brown fox jumps",
      "\u001b[1mThe quick\u001b[22m brown fox\njumps",
    ],
    [
      "a colour that ends behind a word",
      "The quick brown \u001b[1mfox jumps\u001b[22m",
      "The quick brown \u001b[1mfox\njumps\u001b[22m",
    ],
    ["lines that are there stay", "a\n\nb\n", "a\n\nb\n"],
    ["a word longer than a line is left to the terminal", `x ${"y".repeat(30)} z`, `x ${"y".repeat(30)} z`],
    [
      "code between fences",
      "```js\nconst a = 'long and longer and longer'\n```\nThe quick brown fox jumps",
      "```js\nconst a = 'long and longer and longer'\n```\nThe quick brown fox\njumps",
    ],
    ["rows of a table", "| one two | three four | five six |", "| one two | three four | five six |"],
  ])("%s", (_, text, shown) => {
    expect(wrap(text)).toBe(shown);
  });

  it("a word that begins far from the edge is shown letter by letter", () => {
    const filter = createWordWrap(() => 80);
    expect(["H", "e", "llo wo"].map((piece) => filter.push(piece))).toEqual(["H", "e", "llo wo"]);
    expect(filter.isHolding).toBe(false);
  });

  it("near the edge a word waits for its end, and end() writes it", () => {
    const filter = createWordWrap(() => 20);
    expect(filter.push("The quick brown f")).toBe("The quick brown");
    expect(filter.isHolding).toBe(true);
    expect(filter.end()).toBe(" f");
  });

  it("a resize applies from the next word on", () => {
    let columns = 20;
    const filter = createWordWrap(() => columns);
    const first = filter.push("The quick brown fox jumps ");
    columns = 80;
    expect(first + filter.push("over the lazy dog and goes on") + filter.end()).toBe(
      "The quick brown fox\njumps over the lazy dog and goes on",
    );
  });

  const texts = fc
    .array(
      fc.constantFrom(
        "a",
        "word",
        " ",
        "  ",
        "\n",
        "世",
        "🙂",
        "\u001b[1m",
        "\u001b[22m",
        "```\n",
        "- ",
        "e\u0301",
        "verylongword",
        "。",
        "|",
        "\t",
      ),
    )
    .map((parts) => parts.join(""));

  it("however a text is split, the output is the same", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 20, max: 50 }), fc.integer({ min: 1, max: 7 }), (text, columns, size) => {
        // Not inside a character or a colour code: the input is already safe and complete.
        const pieces = text.match(/\u001b\[\d+m|./gsu) ?? [];
        const filter = createWordWrap(() => columns);
        let shown = "";
        for (let at = 0; at < pieces.length; at += size) shown += filter.push(pieces.slice(at, at + size).join(""));
        expect(shown + filter.end()).toBe(wrap(text, columns));
      }),
    );
  });

  it("only blanks become line ends, and no line is longer than the terminal unless a word is", () => {
    const plain = texts.filter((text) => !/[`|\t]|verylongword/.test(text));
    fc.assert(
      fc.property(plain, fc.integer({ min: 20, max: 50 }), (text, columns) => {
        const shown = wrap(text, columns);
        expect(shown.replace(/[ \n]+/g, "")).toBe(text.replace(/[ \n]+/g, ""));
        const bare = shown.replace(/\u001b\[\d+m/g, "");
        for (const line of bare.split("\n")) {
          if (/\S{16,}/u.test(line)) continue;
          expect(displayWidth(line.trimEnd())).toBeLessThanOrEqual(columns);
        }
      }),
    );
  });
});
