import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson } from "./json.ts";
import { JsonBuilder, JsonReader } from "./json-reader.ts";
import { MAX_JSON_DEPTH } from "./limits.ts";

/** Reads a text that comes in pieces of about this many characters. */
function readInPieces(text: string, size: number) {
  const reader = new JsonReader();
  for (let from = 0; from < text.length; from += size) reader.push(text.slice(from, from + size));
  return reader.end();
}

/** Longer than a row, so that rows end everywhere in it. */
const padded = (json: string, before: number): string => `${" ".repeat(before)}${json}`;

describe("F-B1: JsonReader", () => {
  const anyJson = fc
    .tuple(fc.jsonValue({ maxDepth: 5, stringUnit: "binary" }), fc.constantFrom(undefined, 1, "\t"))
    .map(([value, indent]) => JSON.stringify(value, undefined, indent));

  it("gives what JSON.parse gives, wherever the text is cut", () => {
    fc.assert(
      fc.property(
        anyJson,
        fc.integer({ min: 16_300, max: 16_384 }),
        fc.integer({ min: 1, max: 9000 }),
        (json, before, size) => {
          const text = padded(json, before);
          expect(readInPieces(text, size)).toStrictEqual({ value: JSON.parse(json) });
        },
      ),
      { numRuns: 150 },
    );
  });

  it("refuses what JSON.parse refuses", () => {
    const broken = fc
      .tuple(anyJson, fc.nat(), fc.constantFrom("", '"', ",", "]", "}", "{", ":", "1", "\\", "\u0001", "nul", "-"))
      .map(([json, at, put]) => {
        const place = at % (json.length + 1);
        return json.slice(0, place) + put + json.slice(place + (put === "" ? 1 : 0));
      });
    fc.assert(
      fc.property(broken, fc.integer({ min: 16_300, max: 16_384 }), (json, before) => {
        const { fault, value } = parseJson(json);
        const read = readInPieces(padded(json, before), 7);
        expect(read.fault === undefined).toBe(fault === undefined);
        if (fault === undefined) expect(read.value).toStrictEqual(value);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ["an escape", '"a\\u00e9\\"\\\\\\n"'],
    ["half a pair, escaped", '"\\ud834\\udd1e\\ud834"'],
    ["many backslashes", `"${"\\\\".repeat(40)}"`],
    ["a number", "-12.5e+10"],
    ["a literal", "true"],
    ["a key called __proto__", '{"__proto__":{"a":1},"b":2}'],
    ["the same key twice", '{"a":1,"b":2,"a":3}'],
  ])("%s is read wherever a row ends in it", (_, json) => {
    for (let before = 16_384 - json.length; before <= 16_384; before += 1) {
      expect(readInPieces(padded(json, before), 16_384)).toStrictEqual({ value: JSON.parse(json) });
    }
  });

  it("refuses a value that is nested too deep, and says where a fault is", () => {
    const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
    expect(readInPieces(deep(MAX_JSON_DEPTH), 100).fault).toBeUndefined();
    expect(readInPieces(deep(MAX_JSON_DEPTH + 1), 100)).toEqual(parseJson(deep(MAX_JSON_DEPTH + 1)));
    expect(readInPieces('{"a":1,}', 3).fault).toBe('Unexpected token "}" at position 7');
    expect(readInPieces('{"a":1', 3).fault).toContain("Unexpected end");
  });
});

describe("F-B1: JsonBuilder", () => {
  it("has the text and its value, short or long", () => {
    for (const count of [10, 100_000]) {
      const value = { rows: Array.from({ length: count }, (_, at) => ({ at, name: `row ${at}` })) };
      const json = JSON.stringify(value);
      const pile = new JsonBuilder();
      for (let from = 0; from < json.length; from += 100) pile.add(json.slice(from, from + 100));
      expect(JSON.stringify(pile.parse().value) === json).toBe(true);
      expect(pile.parse()).toBe(pile.parse());
      expect(pile.text() === json).toBe(true);
    }
  });
});
