import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson } from "./json.ts";
import { splitJson, JsonShapes, SimilarJsonReader } from "./json-shapes.ts";

const words = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", '"', "\\", "\n", "a", "東京", "🙂", "\u2028"),
);
const leaf = fc.oneof(
  words,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(null, true, -0, 0),
);
const names = fc.constantFrom("a", "b", "text", "__proto__", "constructor", "1", "0", 'q"', "");
const space = fc.constantFrom("", "", "", " ", "  ", "\t", "\n", "\r\n ");

/** A text of JSON as some host might write it: with any white space, and with escapes it does not need. */
type Written = { readonly parts: readonly string[]; readonly leaves: readonly number[] };
const written: fc.Arbitrary<Written> = fc.letrec<{ value: Written; leaf: Written }>((tie) => ({
  leaf: leaf.map((value) => ({ parts: [JSON.stringify(value)], leaves: [0] })),
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie("leaf"),
    fc.array(tie("value"), { maxLength: 4 }).map((members) =>
      join(
        "[",
        members.map((member) => [member]),
        "]",
      ),
    ),
    fc.array(fc.tuple(names, tie("value")), { maxLength: 5 }).map((members) =>
      join(
        "{",
        members.map(([name, member]) => [{ parts: [JSON.stringify(name), ":"], leaves: [] }, member]),
        "}",
      ),
    ),
  ),
})).value;

function join(open: string, members: readonly (readonly Written[])[], close: string): Written {
  const parts = [open];
  const leaves: number[] = [];
  members.forEach((pieces, index) => {
    if (index > 0) parts.push(",");
    for (const piece of pieces) {
      leaves.push(...piece.leaves.map((at) => at + parts.length));
      parts.push(...piece.parts);
    }
  });
  return { parts: [...parts, close], leaves };
}

/** Texts of one shape, among them some that are not JSON. */
const similarTexts = fc
  .tuple(
    written,
    fc.array(leaf, { minLength: 1, maxLength: 40 }),
    fc.array(space, { minLength: 1, maxLength: 40 }),
    fc.array(fc.nat(), { maxLength: 12 }),
  )
  .map(([{ parts, leaves }, values, spaces, cuts]) => {
    let taken = 0;
    const take = <Value>(list: readonly Value[]): Value => list[taken++ % list.length] as Value;
    const texts = Array.from({ length: 12 }, () =>
      parts.map((part, at) => take(spaces) + (leaves.includes(at) ? JSON.stringify(take(values)) : part)).join(""),
    );
    return [...texts, ...cuts.map((cut, index) => damage(texts[index % texts.length] as string, cut))];
  });

const damage = (text: string, cut: number): string => {
  const at = cut % (text.length + 1);
  const inserted = ["", '"', "\\", "\\x", "\\u12", "\u0001", "\n", "0", "-", ",", "}"][cut % 11] as string;
  return text.slice(0, at) + inserted + text.slice(at + (cut % 3));
};

describe("SimilarJsonReader", () => {
  it("parses every text as parseJson does, whatever came before it", () => {
    fc.assert(
      fc.property(fc.array(similarTexts, { minLength: 1, maxLength: 4 }), (streams) => {
        const reader = new SimilarJsonReader(new JsonShapes());
        // Interleaved, so that several shapes are in use at the same time.
        for (let index = 0; index < 24; index += 1) {
          for (const texts of streams) {
            const text = texts[index % texts.length] as string;
            // Unlike toStrictEqual, this is not misled by a property called "constructor".
            assert.deepStrictEqual(reader.parse(text), parseJson(text));
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  const learned = (...texts: string[]): SimilarJsonReader => {
    const reader = new SimilarJsonReader(new JsonShapes());
    for (let round = 0; round < 4; round += 1) for (const text of texts) reader.parse(text);
    return reader;
  };

  it.each([
    ["a string with escapes", '{"type":"d","text":"\\u0041\\n\\"\\ud83d"}'],
    ["a string that ends in a backslash", '{"type":"d","text":"\\\\"}'],
    ["an invalid escape", '{"type":"d","text":"\\x"}'],
    ["half an escape", '{"type":"d","text":"\\u00"}'],
    ["a line feed in a string", '{"type":"d","text":"\n"}'],
    ["a text after the value", '{"type":"d","text":"a"}}'],
    ["a cut text", '{"type":"d","text":"a'],
    ["a member more", '{"type":"d","text":"a","text":"b"}'],
    ["white space everywhere", ' { "type" : "d" ,\t"text" : "a" }\r\n'],
    ["another type of value", '{"type":"d","text":null}'],
    ["another constant", '{"type":"e","text":"a"}'],
  ])("reads %s as parseJson does", (_what, text) => {
    const reader = learned('{"type":"d","text":"a"}', '{"type":"d","text":"b"}', '{"type":"d","text":"c" }');
    expect(reader.parse(text)).toStrictEqual(parseJson(text));
  });

  it.each(["0", "-0", "7", "-12", "01", "1.5", "1e3", "123456789012345678901", "1E400", "+1", "0x1", "-"])(
    "reads the number %s as parseJson does",
    (number) => {
      const reader = learned('{"n":1,"s":"x"}', '{"n":2,"s":"y"}');
      const text = `{"n":${number},"s":"z"}`;
      expect(reader.parse(text)).toStrictEqual(parseJson(text));
    },
  );

  it("creates every object and list anew, so that a change of one value is not seen in the next", () => {
    const reader = learned('{"a":{"b":[{}]},"t":"1"}', '{"a":{"b":[{}]},"t":"2"}');
    const first = reader.parse('{"a":{"b":[{}]},"t":"3"}').value as { a: { b: object[] } };
    first.a.b.push({ changed: true });
    expect(reader.parse('{"a":{"b":[{}]},"t":"4"}').value).toStrictEqual({ a: { b: [{}] }, t: "4" });
  });

  it("keeps the key __proto__ as a property of the value's own", () => {
    const texts = ["1", "2", "3", "4", "5"].map((text) => `{"__proto__":{"x":"${text}"}}`);
    const reader = learned(...texts);
    const value = reader.parse(texts[0] as string).value as object;
    expect(Object.hasOwn(value, "__proto__")).toBe(true);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it("finds the place of each string and number in a text", () => {
    expect(splitJson('{"a":"x", "b":[1,true,null]}')).toMatchObject({
      texts: ['"x"', "1"],
      gaps: ['{"a":', ', "b":[', ",true,null]}"],
      skeleton: '{"a":_,"b":[0,true,null]}',
    });
  });
});
