import { describe, expect, it } from "vitest";
import { parseGitConfig } from "./git-config.ts";

const read = (text: string): readonly string[] =>
  parseGitConfig(text).map(({ section, subsection, name, value }) =>
    [section, ...(subsection === undefined ? [] : [subsection]), `${name}=${value}`].join("."),
  );

describe("F-A4: a git configuration file is read as git reads it", () => {
  it.each<[string, string, readonly string[]]>([
    ["nothing", "", []],
    ["a section and a name in capitals", "[CORE]\n\tFsMonitor = x y", ["core.fsmonitor=x y"]],
    ["a subsection, whose letters are kept", '[filter "Big \\"F\\""]\nclean = a', ['filter.Big "F".clean=a']],
    ["the old way to write a subsection", "[Diff.X]\ntextconv=a", ["diff.x.textconv=a"]],
    ["a section and its entry in one line", '[core]fsmonitor="a;b" ; no', ["core.fsmonitor=a;b"]],
    ["a name alone", "[core]\nfsmonitor\nbare", ["core.fsmonitor=true", "core.bare=true"]],
    ["comments", "# x\n[core] ; y\n; fsmonitor = a\npager = b # c", ["core.pager=b"]],
    ["a value over several lines", "[alias]\nst = !a \\\n  b\npager = c", ["alias.st=!a   b", "alias.pager=c"]],
    ["the same with Windows line ends", "[alias]\r\nst = !a \\\r\nb\r\n", ["alias.st=!a b"]],
    ["quotes in the middle, and blanks at the ends", '[a]\nb =  x" # y "z  ', ["a.b=x # y z"]],
    ["escapes", '[a]\nb = "\\tx\\\\\\"\\n"', ['a.b=\tx\\"\n']],
    ["both ways to write a subsection at once", '[diff.X "Y.z"]\ntextconv=a', ["diff.x.Y.z.textconv=a"]],
    ["a carriage return in front of a subsection", '[diff\r"x"]\nclean=a', ["diff.x.clean=a"]],
    ["an escaped carriage return and line separator", '[a "\\\r\\\u2028"]\nb=c', ["a.\r\u2028.b=c"]],
    ["a value that begins on the next line", "[a]\nb = \\\n c", ["a.b=c"]],
    ["blanks of Unicode at the end, which are part of the value", "[a]\nb = c\v\u00a0 ", ["a.b=c\v\u00a0"]],
    ["a byte order mark", "\uFEFF[a]\nb=c", ["a.b=c"]],
    ["what git would refuse, and what comes after it", "[broken\nx = 1\n[a]\n= 3\nb=c", ["a.b=c"]],
  ])("%s", (_, text, entries) => {
    expect(read(text)).toEqual(entries);
  });

  it("a long file is read in linear time", () => {
    const text = `[a]\n${'b = "x\\\\'.repeat(50_000)}`;
    expect(read(text)).toHaveLength(1);
  });
});
