import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MarkdownText, NO_MARKDOWN, readMarkdown } from "./blocks.ts";
import { decodeEntities, safeLink } from "./links.ts";

const line = fc.constantFrom(
  "# head",
  "para",
  "- item",
  "  more",
  "```js",
  "```",
  "> quote",
  "",
  "|a|b|",
  "|-|-|",
  "1. x",
  "<div>",
  "[r]: http://x",
  "\ttab",
  "\r",
);
const text = fc.array(line, { maxLength: 14 }).map((lines) => lines.join("\n"));

describe("readMarkdown", () => {
  it("text read as it grows ends as text that is read at once", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 7 }), (whole, step) => {
        let read: MarkdownText = NO_MARKDOWN;
        for (let end = step; end < whole.length; end += step) read = readMarkdown(read, whole.slice(0, end), true);
        read = readMarkdown(read, whole, true);
        const final = readMarkdown(read, whole, false);
        expect(final.blocks).toEqual(readMarkdown(NO_MARKDOWN, whole, false).blocks);
        expect(read.blocks.map(({ raw }) => raw).join("")).toBe(final.blocks.map(({ raw }) => raw).join(""));
      }),
    );
  });

  it("blocks that are settled stay the same objects", () => {
    const before = readMarkdown(NO_MARKDOWN, "one\n\ntwo\n\nthree\n\nfo", true);
    const after = readMarkdown(before, "one\n\ntwo\n\nthree\n\nfour", true);
    expect(after.blocks.slice(0, -1).every((block, index) => block === before.blocks[index])).toBe(true);
  });

  it("a block that grows is read again, also when it becomes another kind of block", () => {
    let read: MarkdownText = NO_MARKDOWN;
    const whole = "one\n\nTitle\n===\n\n- a\n- b\n\n  still b\n\n|x|y|\n|-|-|\n|1|2|\n\nend";
    for (let end = 1; end <= whole.length; end += 1) read = readMarkdown(read, whole.slice(0, end), true);
    const kinds = read.blocks.map(({ token }) => token.type).filter((type) => type !== "space");
    expect(kinds).toEqual(["paragraph", "heading", "list", "table", "paragraph"]);
  });

  it.each([
    ["in one line", '{"a":"*b*"}', '{\n  "a": "*b*"\n}'],
    ["in several lines", '{\n "a": 1\n}', '{\n "a": 1\n}'],
    ["with a number that JavaScript would round", '{"a":12345678901234567890}', '{"a":12345678901234567890}'],
  ])("an answer that is one JSON value is data, while it is written too: %s", (_, written, shown) => {
    for (let end = written.indexOf('"') + 1; end <= written.length; end += 1) {
      const [block] = readMarkdown(NO_MARKDOWN, written.slice(0, end), true).blocks;
      expect(block?.token).toMatchObject({ type: "code", lang: "json", text: written.slice(0, end) });
    }
    expect(readMarkdown(NO_MARKDOWN, written, false).blocks.map(({ token }) => token)).toMatchObject([
      { type: "code", lang: "json", text: shown },
    ]);
  });

  it.each(['{"a" is no JSON', "[x] done", '{"a": 1} and more'])("%s is prose", (written) => {
    const [block] = readMarkdown(NO_MARKDOWN, written, false).blocks;
    expect(block?.token.type).toBe("paragraph");
  });

  it("nesting has an end: deeper than any page could draw it is plain text", () => {
    const typeOf = (text: string) => readMarkdown(NO_MARKDOWN, text, true).blocks.map(({ token }) => token.type);
    expect(typeOf(`${">".repeat(20)} x`)).toEqual(["blockquote"]);
    expect(typeOf(`${">".repeat(200)} x`)).toEqual(["code"]);
  });

  it("what is nested beyond reason, and what is too long, is shown as it was written", () => {
    for (const hostile of [
      ">".repeat(5000),
      "*".repeat(2000),
      "- ".repeat(3000),
      "[".repeat(20_000),
      `${"a ".repeat(250_000)}`,
    ]) {
      const { blocks } = readMarkdown(NO_MARKDOWN, hostile, true);
      expect(blocks.map(({ raw }) => raw).join("")).toBe(hostile);
    }
  });
});

describe("safeLink", () => {
  it.each(["https://a.org/x?y#z", "http://a.org", "mailto:a@b.org", "HTTPS://A.ORG/"])("%s leads somewhere", (href) => {
    expect(safeLink(href)).toMatch(/^(https?:\/\/|mailto:)/);
  });
  it.each([
    "vbscript:1",
    " javascript:1",
    "java\nscript:1",
    "data:text/html,x",
    "//a.org",
    "/x",
    "#x",
    "file:///x",
    "blob:https://a",
    "\\\\a",
    "https://a.org/\u0000",
    "",
  ])("%j does not", (href) => {
    expect(safeLink(href)).toBeUndefined();
  });
});

describe("decodeEntities", () => {
  it("writes out what is known and leaves the rest", () => {
    expect(decodeEntities("a &amp; b &lt;c&gt; &#65;&#x42; &nosuch; &#0;&#xd800;&#1114112; & &constructor;")).toBe(
      "a & b <c> AB &nosuch; \ufffd\ufffd\ufffd & &constructor;",
    );
  });
});
