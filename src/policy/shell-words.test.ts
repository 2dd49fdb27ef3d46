import { describe, expect, it } from "vitest";
import { readShell } from "./shell-words.ts";

describe("parsing a shell text", () => {
  const cases: readonly (readonly [text: string, commands: readonly (readonly string[])[]])[] = [
    ["", []],
    ["  ", []],
    ["a b", [["a", "b"]]],
    ["a 'b c' \"d e\"", [["a", "b c", "d e"]]],
    ["a''b \"\" c", [["ab", "", "c"]]],
    ["a\\ b \\'c", [["a b", "'c"]]],
    ['a "\\"b\\n"', [["a", '"b\\n']]],
    ["a;b|c&&d||e&f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]],
    [
      "a $(b c) d",
      [
        ["b", "c"],
        ["a", "$", "d"],
      ],
    ],
    ['a "x$(b; c)y"', [["b"], ["c"], ["a", "x$y"]]],
    ["a `b` c", [["b"], ["a", "", "c"]]],
    ["(a; b) c", [["a"], ["b"], ["c"]]],
    ["a 2>&1 >out <in b", [["a", "b"]]],
    ["a &>/dev/null b", [["a", "b"]]],
    ["a#b #c;d", [["a#b"]]],
  ];
  it.each(cases)("%j", (text, commands) => {
    expect(readShell(text).commands.map(({ words }) => words)).toEqual(commands);
  });

  it.each(["'a", '"a', "a `b", "(a", "a)", "a <<E", "a $'b'", "a # b"])("%j is not plain", (text) => {
    expect(readShell(text).isPlain).toBe(false);
  });

  it.each([
    ["a 2>&1", false],
    ["a >/dev/null 2>&-", false],
    ["a > b", true],
    ["a <b", true],
    ["a &>b", true],
    ["a >$b", true],
    ["a >", true],
  ])("%j writes to files: %s", (text, redirects) => {
    expect(readShell(text).commands.some((command) => command.redirects)).toBe(redirects);
  });
});
