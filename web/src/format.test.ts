import { describe, expect, it } from "vitest";
import { dayOf, factsOf, formatDuration, formatValue, summariseInput } from "./format.ts";
import { pauseBefore } from "./state/follow.ts";
import { readRoute, routeOf } from "./state/route.ts";

describe("what numbers look like", () => {
  it("S1-127: what is not known is omitted, and is not zero", () => {
    expect(factsOf({})).toEqual([]);
    expect(factsOf({ usage: { inputTokens: 1250, outputTokens: 0 }, costUsd: 0, ms: 999 })).toEqual([
      "1.3k in",
      "0 out",
      "$0",
      "999 ms",
    ]);
  });
  it.each([
    [0.00001, "<$0.0001"],
    [0.0012, "$0.0012"],
    [1.239, "$1.24"],
  ])("%d dollars", (usd, shown) => expect(factsOf({ costUsd: usd })).toEqual([shown]));
  it.each([
    [12, "12 ms"],
    [1500, "1.5 s"],
    [12_400, "12 s"],
    [125_000, "2 min 5 s"],
  ])("%d ms", (ms, shown) => expect(formatDuration(ms)).toBe(shown));
});

describe("what values look like", () => {
  it("SEC11: a character that hides or turns text is shown as its number", () => {
    expect(formatValue({ path: "a\u202Efdp.exe\u200b" })).toBe('{\n  "path": "a\\u202efdp.exe\\u200b"\n}');
    expect(formatValue("a\u2066b\u{e0041}c\u001b[31m\td\r\n👩‍💻")).toBe(
      "a\\u2066b\\udb40\\udc41c\\u001b[31m\td\r\n👩‍💻",
    );
    expect(summariseInput({ path: "a\u202Eb" })).toContain("a\\u202eb");
  });
  it("text as it is, content blocks by their text, everything else as JSON", () => {
    expect(formatValue("a\nb")).toBe("a\nb");
    expect(
      formatValue([
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ]),
    ).toBe("a\nb");
    expect(formatValue({ a: 1 })).toBe('{\n  "a": 1\n}');
    expect(formatValue(undefined)).toBe("");
  });
  it("F-F page: threads stand under the day they were last used", () => {
    const now = new Date(2026, 10, 17, 9, 0).getTime();
    const at = (day: number, hour: number): string => dayOf(new Date(2026, 10, day, hour).getTime(), now);
    expect([at(17, 0), at(16, 23), at(16, 0), at(15, 12), at(11, 0), at(10, 23)]).toEqual([
      "Today",
      "Yesterday",
      "Yesterday",
      "Last 7 days",
      "Last 7 days",
      "November 2026",
    ]);
  });
  it("the gist of an input is its numbers, or its first text", () => {
    expect(summariseInput({ a: 25, b: 17 })).toBe("a: 25, b: 17");
    expect(summariseInput({ force: true, path: "/x\ny" })).toBe("/x");
    expect(summariseInput(null)).toBe("");
  });
});

describe("coming back after a break", () => {
  it("waits longer each time, never longer than ten seconds, and not always the same", () => {
    const longest = [1, 2, 3, 4, 5, 6, 7, 20].map((failures) => pauseBefore(failures, 1));
    expect(longest).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
    expect(pauseBefore(3, 0)).toBe(1000);
  });
});

describe("the route", () => {
  it("names a thread, or none", () => {
    expect(readRoute(routeOf("abc-1_2"))).toBe("abc-1_2");
    for (const hash of ["", "#/", "#/t/", "#/t/a/b", "#/t/../x", `#/t/${"a".repeat(65)}`])
      expect(readRoute(hash)).toBeUndefined();
  });
});
