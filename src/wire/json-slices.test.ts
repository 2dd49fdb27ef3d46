import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutJson, encodeInSlices, measureJson } from "./json-slices.ts";

const LONG = `A "quote", a line\n, an é, a 𝄞 and a lone \ud834. `.repeat(5000);

describe("F-B1: encodeInSlices", () => {
  it.each([
    ["a short value", { a: 1, b: [null, true, "x"] }],
    ["a text", LONG],
    ["texts in a tree", { a: LONG, b: [{ c: LONG }, "short", LONG.slice(1)], d: LONG.length }],
    ["characters of two halves at every cut", "𝄞".repeat(200_000)],
    ["one that begins in the middle", `x${"𝄞".repeat(200_000)}`],
  ])("%s: the pieces equal the output of JSON.stringify", (_, value) => {
    expect([...encodeInSlices(value)].join("")).toBe(JSON.stringify(value));
  });

  it("F-B1: lists and objects with very many members are written in pieces, too", () => {
    const many = Array.from({ length: 100_000 }, (_, at) => ({
      at,
      name: `n${at}`,
      left: undefined,
      none: [undefined],
    }));
    const value = { many, byName: Object.fromEntries(many.map((one) => [one.name, [one]])), end: [], empty: {} };
    const pieces = [...encodeInSlices(value)];
    expect(pieces.join("")).toBe(JSON.stringify(value));
    expect(pieces.length).toBeGreaterThan(50);
    for (const piece of pieces) expect(piece.length).toBeLessThan(3 * 65_536);
  });

  it("calls toJSON as JSON.stringify does, and rejects what it rejects", () => {
    const large = { long: LONG, date: new Date(0), boxed: new String("x"), no: () => 1, "": undefined };
    expect([...encodeInSlices(large)].join("")).toBe(JSON.stringify(large));
    expect([...encodeInSlices([LONG, () => 1])].join("")).toBe(JSON.stringify([LONG, () => 1]));
    const gone = { toJSON: () => undefined, long: LONG };
    expect([...encodeInSlices([gone, 1])].join("")).toBe(JSON.stringify([gone, 1]));
    const round: { long: string; self?: unknown } = { long: LONG };
    round.self = [round];
    expect(() => [...encodeInSlices(round)]).toThrow(TypeError);
    expect(() => [...encodeInSlices({ long: LONG, big: 1n })]).toThrow(TypeError);
  });

  it("cutJson leaves long texts as the same strings", () => {
    const pieces = [...cutJson({ a: LONG, b: [LONG] })];
    expect(pieces).toEqual(['{"a":', { text: LONG }, ',"b":[', { text: LONG }, "]}"]);
  });

  it("no piece is much longer than a slice", () => {
    const pieces = [...encodeInSlices({ messages: [LONG.repeat(4), LONG.repeat(4)] })];
    expect(pieces.length).toBeGreaterThan(20);
    for (const piece of pieces) expect(piece.length).toBeLessThan(6 * 65_536 + 100);
  });

  it("any JSON", () => {
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

  it("reads no further than requested", () => {
    const looked = {
      get late(): never {
        throw new Error("looked at");
      },
    };
    expect(measureJson(["x".repeat(100), looked], 50)).toBeGreaterThanOrEqual(50);
  });
});
