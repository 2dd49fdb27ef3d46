import { describe, expect, it } from "vitest";
import { comparePlain, compareTexts } from "./compare.ts";
import { settleText } from "./settled-text.ts";

const places = (recorded: unknown, sent: unknown): readonly string[] =>
  compareTexts("body", JSON.stringify(recorded), JSON.stringify(sent)).map(
    ({ path, recorded: old, sent: now }) => `${path}: ${old} -> ${now}`,
  );

describe("F-D11: a difference is named by its path", () => {
  it.each<[string, unknown, unknown, readonly string[]]>([
    ["nothing", { a: 1, b: [true, null] }, { a: 1, b: [true, null] }, []],
    ["the order of keys", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }, []],
    ["a value", { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, ["body.a[0].b: 1 -> 2"]],
    ["a kind", { a: "1" }, { a: 1 }, ['body.a: "1" -> 1']],
    ["something new", { a: [] }, { a: [{ b: 1 }] }, ['body.a[0]: nothing -> {"b":1}']],
    ["something gone", { a: 1, b: 2 }, { a: 1 }, ["body.b: 2 -> nothing"]],
    ["null and nothing", { a: null }, {}, ["body.a: null -> nothing"]],
    ["several places", { a: 1, b: "x" }, { a: 2, b: "y" }, ["body.a: 1 -> 2", 'body.b: "x" -> "y"']],
    ["names of Object", { constructor: 1 }, { constructor: 2 }, ["body.constructor: 1 -> 2"]],
    ["a covered secret of another length", { a: "key ******** end" }, { a: "key **** end" }, []],
    ["a secret that nobody knows today", { a: "key ******** end" }, { a: "key sk-123 end" }, []],
    [
      "a text behind a cover",
      { a: "key ******** end" },
      { a: "key sk-123 fin" },
      ['body.a: "key ******** end" -> "key sk-123 fin"'],
    ],
    ["few stars", { a: "**a**" }, { a: "**b**" }, ['body.a: "**a**" -> "**b**"']],
  ])("%s", (_, recorded, sent, expected) => {
    expect(places(recorded, sent)).toEqual(expected);
  });

  it("a long text is shown around its first difference", () => {
    const [found] = comparePlain(
      "body",
      `${"a".repeat(500)}X${"b".repeat(500)}`,
      `${"a".repeat(500)}Y${"b".repeat(500)}`,
    );
    expect(found?.recorded).toMatch(/^"…a{30}Xb{49}…"$/);
    expect(found?.sent).toMatch(/^"…a{30}Yb{49}…"$/);
  });

  it("masks are matched in linear time", () => {
    const covered = `${"a****".repeat(20_000)}b`;
    expect(comparePlain("body", covered, "a".repeat(100_000))).toHaveLength(1);
  });
});

describe("F-D11: values that differ in every run are not compared", () => {
  it.each([
    ["ids that were drawn", "run abcdefgh1234 ends", "run zyxwvuts9876 ends", ["abcdefgh1234"], ["zyxwvuts9876"]],
    ["UUIDs", "id 0b5c2f6e-5a4d-4d8f-9a3e-0123456789ab", "id 1b5c2f6e-5a4d-4d8f-9a3e-0123456789ab", [], []],
    ["ports of loopback", "http://127.0.0.1:4010/v1", "http://127.0.0.1:51234/v1", [], []],
    ["temporary folders", "/tmp/millrace-Ab12Cd/file", "/tmp/millrace-Zz98Yx/file", [], []],
  ])("%s", (_, recorded, sent, then, now) => {
    expect(settleText(recorded, then)).toBe(settleText(sent, now));
  });

  it.each([
    ["ports of other hosts", "http://host.test:80/", "http://host.test:81/"],
    ["files in the temporary folder", "/tmp/a.txt", "/tmp/b.txt"],
    ["texts", "What is 25 + 17?", "What is 25 + 18?"],
  ])("but %s are", (_, recorded, sent) => {
    expect(settleText(recorded, [])).not.toBe(settleText(sent, []));
  });
});
