import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import { createNameMatcher, matchesGlob, parseGlob } from "./matcher.ts";

describe("S0-76: which tools a hook applies to", () => {
  const cases: readonly (readonly [names: string | undefined, tool: string, matches: boolean])[] = [
    [undefined, "Bash", true],
    ["*", "Bash", true],
    ["Bash", "Bash", true],
    ["Bash", "bash", false],
    ["Bash", "BashOutput", false],
    ["Ba", "Bash", false],
    ["Bash|Read", "Read", true],
    ["Bash | Read", "Read", true],
    ["Bash|Read", "Bash|Read", false],
    ["Bash|Read", "Write", false],
    ["mcp__*", "mcp__calc__add", true],
    ["mcp__*", "mcp_calc", false],
    ["mcp__*__add", "mcp__calc__add", true],
    ["mcp__*__add", "mcp__calc__sub", false],
    ["*Edit", "NotebookEdit", true],
    ["*Edit", "Edits", false],
    ["Ba.h", "Bash", false],
    ["[A-Z]*", "Bash", false],
    ["(", "(", true],
  ];
  it.each(cases)("%s and %s: %s", (names, tool, matches) => {
    expect(createNameMatcher(names)(tool)).toBe(matches);
  });
});

describe("patterns", () => {
  const cases: readonly (readonly [pattern: string, text: string, matches: boolean])[] = [
    ["a*", "a", true],
    ["*", "", true],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["a*b*c", "a b c", true],
    ["a*b*c", "acb", false],
    ["a**c", "abc", true],
    ["*b*", "abc", true],
    ["ab*ba", "aba", false],
    ["x*aab", "xaaab", true],
    ["*a*a", "a", false],
    ["a\n*", "a\nb", true],
  ];
  it.each(cases)("%s and %s: %s", (pattern, text, matches) => {
    expect(matchesGlob(parseGlob(pattern), text)).toBe(matches);
  });

  it("agree with a slow and obvious implementation", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
    const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 });
    fc.assert(
      fc.property(letters, text, (pattern, subject) => {
        expect(matchesGlob(parseGlob(pattern), subject)).toBe(matchesSlowly(pattern, subject));
      }),
      { numRuns: fuzzRuns(3_000) },
    );
  });
});

function matchesSlowly(pattern: string, text: string): boolean {
  if (pattern === "") return text === "";
  if (pattern[0] !== "*")
    return text !== "" && pattern[0] === text[0] && matchesSlowly(pattern.slice(1), text.slice(1));
  return matchesSlowly(pattern.slice(1), text) || (text !== "" && matchesSlowly(pattern, text.slice(1)));
}
