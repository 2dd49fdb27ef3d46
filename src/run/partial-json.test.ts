import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import { createPartialReader, MAX_PARTIAL_CHARACTERS, partialValue } from "./partial-json.ts";

const numRuns = fuzzRuns(300);

describe("the value of an incomplete answer", () => {
  it.each([
    ['{"name":"Mi', { name: "Mi" }],
    ['{"name":"Mill","n":4', { name: "Mill" }],
    ['{"name":"Mill","n":42,', { name: "Mill", n: 42 }],
    ['{"list":[1,2,{"a":"b', { list: [1, 2, { a: "b" }] }],
    ['{"ok":tr', {}],
    ['[{"a":1},{"a":2', [{ a: 1 }, {}]],
    ['```json\n{"a":"b', { a: "b" }],
    ['```json\n{"a":"b"}\n``', { a: "b" }],
    ['"half a te', "half a te"],
  ])("%s", async (text, value) => {
    expect(await partialValue(text)).toEqual(value);
  });

  it.each(["", "  ", "``", "```json", "I think", "nul"])("there is none yet in %j", async (text) => {
    expect(await partialValue(text)).toBeUndefined();
  });

  it.each(['{"__proto__":{"admin":true}', '{"\\u005f_proto__":{"admin":true}', '{"a":{"\\u005F_proto__":{"admin":1}'])(
    "a field that would change what an object inherits gives no partial value: %s",
    async (text) => {
      const value = (await partialValue(text)) as { admin?: unknown } | undefined;
      expect(value?.admin).toBeUndefined();
      expect(value).toBeUndefined();
    },
  );

  it("endless nesting is not followed", async () => {
    expect(await partialValue("[".repeat(100_000))).toBeUndefined();
    expect(await partialValue(`{"text":"${"[".repeat(1000)}`)).toEqual({ text: "[".repeat(1000) });
  });

  it("R7: endless white space costs no more than other text", async () => {
    const blanks = " ".repeat(MAX_PARTIAL_CHARACTERS - 100);
    expect(await partialValue(`\`\`\`json\n{"a":"b",${blanks}"c":"d`)).toEqual({ a: "b", c: "d" });
  });

  it("any text gives a value or none, and never throws", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ maxLength: 60 }),
          fc
            .array(
              fc.constantFrom("{", "}", "[", "]", '"', ",", ":", "\\", "-", "1", "e", "a", " ", "tru", "`", "\n"),
              {
                maxLength: 40,
              },
            )
            .map((parts) => parts.join("")),
        ),
        async (text) => {
          await partialValue(text);
        },
      ),
      { numRuns },
    );
  });

  it("S2-5: the whole text gives the whole value, and every prefix of it a part", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 })), async (value) => {
        const text = JSON.stringify(value);
        if (/__proto__|\\u005f/i.test(text)) return;
        expect(await partialValue(text)).toEqual(JSON.parse(text));
        for (let end = 1; end < text.length; end += 1) {
          const part = await partialValue(text.slice(0, end));
          for (const name of Object.keys(part as object)) expect(Object.hasOwn(value, name)).toBe(true);
        }
      }),
      { numRuns: Math.min(numRuns, 50) },
    );
  });
});

describe("reading while it is written", () => {
  it("gives values while the text grows, and the last one on request", async () => {
    const reader = await createPartialReader({ isWrapped: false });
    const text = JSON.stringify({ title: "A long title of a text", points: [1, 2, 3], done: true });
    const seen: unknown[] = [];
    for (const character of text) {
      const looked = reader.push(character);
      if (looked !== undefined) seen.push(looked.value);
    }
    expect(seen.length).toBeGreaterThan(2);
    expect(seen[0]).toEqual({ title: "A long" });
    expect(reader.read()).toEqual(JSON.parse(text));
    reader.reset();
    expect(reader.read()).toBeUndefined();
  });

  it("unwraps the value", async () => {
    const reader = await createPartialReader({ isWrapped: true });
    expect(reader.push('{"value":["one","tw')).toEqual({ value: ["one", "tw"] });
    reader.reset();
    expect(reader.push('{"other":["one","tw')).toBeUndefined();
  });

  it("R7: parses rarely enough to stay linear, and not at all past the limit", async () => {
    const reader = await createPartialReader({ isWrapped: false });
    reader.push('{"text":"');
    let looks = 0;
    let looked = 0;
    for (let length = 9; length < MAX_PARTIAL_CHARACTERS; length += 1) {
      if (reader.push("x") === undefined) continue;
      looks += 1;
      looked += length;
    }
    expect(looks).toBeGreaterThan(10);
    expect(looked).toBeLessThan(3 * MAX_PARTIAL_CHARACTERS);
    reader.push("xx");
    expect(reader.read()).toBeUndefined();
  });
});
