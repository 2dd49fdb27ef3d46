import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonReader, LONG_JSON, MAX_JSON_DEPTH, MAX_JSON_FIELDS, readLongJson, TOO_DEEP } from "./json-reader.ts";

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

  it("gives the same as JSON.parse, wherever the text is split", () => {
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

  it("rejects what JSON.parse rejects", () => {
    const broken = fc
      .tuple(anyJson, fc.nat(), fc.constantFrom("", '"', ",", "]", "}", "{", ":", "1", "\\", "\u0001", "nul", "-"))
      .map(([json, at, put]) => {
        const place = at % (json.length + 1);
        return json.slice(0, place) + put + json.slice(place + (put === "" ? 1 : 0));
      });
    fc.assert(
      fc.property(broken, fc.integer({ min: 16_300, max: 16_384 }), (json, before) => {
        const read = readInPieces(padded(json, before), 7);
        if (read.fault === undefined) expect(read.value).toStrictEqual(JSON.parse(json));
        else expect(() => JSON.parse(json)).toThrow(SyntaxError);
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
  ])("%s is read wherever a piece ends in it", (_, json) => {
    for (let before = 16_384 - json.length; before <= 16_384; before += 1) {
      expect(readInPieces(padded(json, before), 16_384)).toStrictEqual({ value: JSON.parse(json) });
    }
  });

  it("rejects a value that is nested too deeply, with the position of the fault", () => {
    const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
    expect(readInPieces(deep(MAX_JSON_DEPTH), 100).fault).toBeUndefined();
    expect(readInPieces(deep(MAX_JSON_DEPTH + 1), 100)).toEqual({ fault: TOO_DEEP });
    expect(readInPieces('{"a":1,}', 3).fault).toBe('Unexpected token "}" at position 7');
    expect(readInPieces('{"a":1', 3).fault).toContain("Unexpected end");
  });

  it("rejects an object with too many fields, of others only, and takes a list of any length", () => {
    const fields = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"${at}":0`).join(",")}}`;
    const within = `[${fields(MAX_JSON_FIELDS)},${fields(2)}]`;
    expect(readInPieces(within, 100_000).fault).toBeUndefined();
    expect(readInPieces(`[${fields(MAX_JSON_FIELDS + 1)}]`, 100_000)).toEqual({
      fault: `an object has more than ${MAX_JSON_FIELDS} fields`,
    });
    const ours = new JsonReader(true);
    ours.push(fields(MAX_JSON_FIELDS + 1));
    expect(ours.end().fault).toBeUndefined();
    expect(readInPieces(`[0${",0".repeat(MAX_JSON_FIELDS + 1)}]`, 100_000).fault).toBeUndefined();
    // Only long texts are read by this reader, and a shorter one cannot have so many fields.
    expect(fields(MAX_JSON_FIELDS).length).toBeGreaterThan(LONG_JSON);
  });

  it("accepts strings instead of their JSON text, and any depth if allowed", () => {
    const reader = new JsonReader(true);
    reader.push('{"a":');
    reader.pushText("x");
    reader.push(',"list":[');
    reader.pushText("y");
    reader.push(`,1],"deep":${"[".repeat(1000)}${"]".repeat(1000)}`);
    reader.push("}");
    const { value } = reader.end() as { readonly value: { readonly deep: unknown } };
    expect({ ...value, deep: JSON.stringify(value.deep).length }).toEqual({ a: "x", list: ["y", 1], deep: 2000 });
    const wrong = new JsonReader();
    wrong.push('{"a"');
    wrong.pushText("x");
    expect(wrong.end().fault).toContain("Unexpected string");
  });

  it("reads a complete text in several turns of the event loop", async () => {
    const value = Array.from({ length: 50_000 }, (_, at) => ({ at, name: `row ${at}` }));
    let turns = 0;
    const read = await readLongJson(JSON.stringify(value), async () => void (turns += 1));
    expect(JSON.stringify(read.value) === JSON.stringify(value)).toBe(true);
    expect(turns).toBeGreaterThan(20);
  });
});
