import { describe, expect, it } from "vitest";
import { findAttachments } from "./attachments.ts";

describe("F-A9: what the CLI may treat as file attachments in a prompt", () => {
  it.each<[string, readonly string[]]>([
    ["nothing here", []],
    ["write to ada@example.com", []],
    ["@a.ts", ["a.ts"]],
    ["(@/etc/passwd)", ["/etc/passwd"]],
    ["see @src/, and @~/.ssh/id_rsa.", ["src/", "~/.ssh/id_rsa"]],
    ['"@"a b.txt" x', ["a b.txt"]],
    ['@"a#b.txt"', ["a#b.txt", "a"]],
    ["@a.ts#L3-5", ["a.ts"]],
    ["文件@/etc/passwd", ["/etc/passwd"]],
    ["@", []],
    ["@@x", ["@x"]],
  ])("%j", (text, paths) => {
    expect(findAttachments(text)).toEqual(paths);
  });

  it("a long text is read in linear time", () => {
    expect(findAttachments('@"'.repeat(100_000)).length).toBeGreaterThan(0);
  });

  it.each([
    ["a quote that is not closed", 'See @"a, @b.txt and "c"', "b.txt"],
    ["a quote that is closed lines later", 'x @"a\n@/etc/passwd\n" y', "/etc/passwd"],
    ["a quote inside of a name", '@a"b.txt', 'a"b.txt'],
    ["a detour behind a quote", 'say @" then @./sub/../b.txt "', "./sub/../b.txt"],
  ])("no attachment is hidden by %s", (_, text, path) => {
    expect(findAttachments(text)).toContain(path);
  });
});
