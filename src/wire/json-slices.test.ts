import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeInSlices, measureJson } from "./json-slices.ts";

const LONG = `A "quote", a line\n, an é, a 𝄞 and a lone \ud834. `.repeat(5000);

describe("F-B1: encodeInSlices", () => {
  it.each([
    ["a short value", { a: 1, b: [null, true, "x"] }],
    ["a text", LONG],
    ["texts in a tree", { a: LONG, b: [{ c: LONG }, "short", LONG.slice(1)], d: LONG.length }],
    ["characters of two halves at every cut", "𝄞".repeat(200_000)],
    ["one that begins in the middle", `x${"𝄞".repeat(200_000)}`],
    ["a text that reads like a mark", { a: "@@slice-0@@", b: LONG, c: '"@@slice-1@@"' }],
  ])("%s: the pieces are what JSON.stringify gives", (_, value) => {
    expect([...encodeInSlices(value)].join("")).toBe(JSON.stringify(value));
  });

  it("no piece is much longer than a slice", () => {
    const pieces = [...encodeInSlices({ messages: [LONG.repeat(4), LONG.repeat(4)] })];
    expect(pieces.length).toBeGreaterThan(20);
    for (const piece of pieces) expect(piece.length).toBeLessThan(6 * 65_536 + 100);
  });

  it("any JSON at all", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect([...encodeInSlices({ value, long: LONG })].join("")).toBe(JSON.stringify({ value, long: LONG }));
      }),
      { numRuns: 50 },
    );
  });
});

describe("measureJson", () => {
  it("is about as long as the text, and never less than its texts", () => {
    const value = { a: "x".repeat(1000), b: [1, 2, { c: "y".repeat(500) }], bytes: new Uint8Array(300) };
    expect(measureJson(value)).toBeGreaterThan(1800);
    expect(measureJson(value)).toBeLessThan(2000);
  });
});
