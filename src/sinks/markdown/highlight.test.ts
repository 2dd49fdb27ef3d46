import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPalette } from "../palette.ts";
import { createHighlight } from "./highlight.ts";

/** Colours as readable marks. */
const marks = {
  ...createPalette(false),
  dim: (text: string) => `<c:${text}>`,
  green: (text: string) => `<s:${text}>`,
  magenta: (text: string) => `<k:${text}>`,
  yellow: (text: string) => `<n:${text}>`,
  cyan: (text: string) => `<y:${text}>`,
  red: (text: string) => `<r:${text}>`,
};
const paint = (language: string, code: string): string =>
  code.split("\n").map(createHighlight(language, marks)).join("\n");

describe("F-F code is highlighted", () => {
  it.each([
    ["ts", 'const a = "b\\"c"; // d', '<k:const> a = <s:"b\\"c">; <c:// d>'],
    ["js", "`a\nb` + 1.5e3 /* c\nd */ e", "<s:`a>\n<s:b`> + <n:1.5e3> <c:/* c>\n<c:d */> e"],
    [
      "python",
      'def f():\n  """a\n  b"""\n  return None # c',
      '<k:def> f():\n  <s:"""a>\n<s:  b""">\n  <k:return> <k:None> <c:# c>',
    ],
    ["bash", 'echo "$#" a#b # it\'s', 'echo <s:"$#"> a#b <c:# it\'s>'],
    ["sql", "select * FROM t -- all", "<k:select> * <k:FROM> t <c:-- all>"],
    ["json", '{ "a": "b", "c": [1, true] }', '{ <y:"a">: <s:"b">, <y:"c">: [<n:1>, <k:true>] }'],
    ["rust", "fn id<'a>(x: &'a str)", "<k:fn> id<'a>(x: &'a <k:str>)"],
    ["diff", "@@ -1 +1 @@\n-a\n+b\n c", "<y:@@ -1 +1 @@>\n<r:-a>\n<s:+b>\n c"],
    ["html", '<a href="x"><!-- c --></a>', '<a href=<s:"x">><c:<!-- c -->></a>'],
    ['ts title="x"', "let x", "<k:let> x"],
    ["brainfuck", "const + 1", "const + 1"],
    ["", "const 1", "const 1"],
  ])("%s", (language, code, shown) => {
    expect(paint(language, code)).toBe(shown);
  });

  it("the code itself is never changed", () => {
    const plain = createPalette(false);
    fc.assert(
      fc.property(
        fc.constantFrom("ts", "python", "bash", "sql", "json", "html", "rust", "yaml", "diff", "css", "lua"),
        fc.array(
          fc.constantFrom("'", '"', "`", "\\", "/*", "*/", "//", "#", "a", "1", " ", '"""', "<!--", "-->", "é", "世"),
        ),
        (language, parts) => {
          const highlight = createHighlight(language, plain);
          const code = parts.join("");
          expect(highlight(code)).toBe(code);
          expect(highlight(code)).toBe(code);
        },
      ),
    );
  });
});
