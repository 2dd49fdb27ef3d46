import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { isStartError } from "#domain";
import { readSchema } from "./schema.ts";
import { type InputOf, tool } from "./tool.ts";

const codeOf = (make: () => unknown): unknown => {
  try {
    return make();
  } catch (error) {
    return isStartError(error) ? error.code : error;
  }
};

describe("schemas of other libraries", () => {
  it("arktype: its own JSON Schema is shown, its own check is made, and its types are the tool's", async () => {
    const order = type({ item: "string", count: "number.integer > 0", "note?": "string" });
    const made = tool("order", "Order", order, (input) => {
      expectTypeOf(input.item).toEqualTypeOf<string>();
      expectTypeOf(input.count).toEqualTypeOf<number>();
      expectTypeOf(input.note).toEqualTypeOf<string | undefined>();
      return input;
    });
    expect(made.inputSchema).toMatchObject({
      type: "object",
      properties: { item: { type: "string" }, count: { type: "integer", exclusiveMinimum: 0 } },
      required: ["count", "item"],
    });
    expect(await made.parse({ item: "tea", count: 2 })).toEqual({ fits: true, value: { item: "tea", count: 2 } });
    expect(await made.parse({ item: "tea", count: 0 })).toMatchObject({
      fits: false,
      problem: expect.stringContaining("count"),
    });
  });

  const size = v.pipe(v.string(), v.transform(Number), v.minValue(1, "too small"));
  const order = v.object({ item: v.string(), size });
  const shown = {
    type: "object",
    properties: { item: { type: "string" }, size: { type: "string" } },
    required: ["item", "size"],
    additionalProperties: false,
  } as const;

  it("valibot, which writes no JSON Schema: the caller gives it beside the schema", async () => {
    const made = tool("order", "Order", { schema: order, jsonSchema: shown }, (input) => {
      expectTypeOf(input).toEqualTypeOf<{ item: string; size: number }>();
      return input;
    });
    expect(made.inputSchema).toEqual(shown);
    expect(await made.parse({ item: "tea", size: "3" })).toEqual({ fits: true, value: { item: "tea", size: 3 } });
    expect(await made.parse({ item: "tea", size: "0" })).toEqual({ fits: false, problem: "size: too small" });
  });

  it("valibot alone is refused with what to write", () => {
    const make = () => tool("order", "Order", order, () => 1);
    expect(codeOf(make)).toBe("invalid-option");
    expect(make).toThrow(/valibot schema .*\{ schema, jsonSchema \}/);
  });

  it("a JSON Schema beside it that is none is refused", () => {
    const make = () => tool("order", "Order", { schema: order, jsonSchema: "object" as never }, () => 1);
    expect(make).toThrow(/input\.jsonSchema is a string/);
  });

  it("fields that happen to be called schema and jsonSchema are the short notation", () => {
    expect(readSchema({ schema: "string", jsonSchema: "string" }, "input").jsonSchema).toMatchObject({
      properties: { schema: { type: "string" }, jsonSchema: { type: "string" } },
    });
  });

  it("all three libraries fail in the same words when a value is missing", async () => {
    for (const given of [
      type({ a: "number" }),
      z.object({ a: z.number() }),
      { schema: v.object({ a: v.number() }), jsonSchema: { type: "object" } },
    ]) {
      expect(await readSchema(given, "input").parse({})).toMatchObject({
        fits: false,
        problem: expect.stringMatching(/^a/),
      });
    }
  });
});

describe("JSON Schema or short notation", () => {
  it.each([
    ["a list", { type: "array", items: { type: "number" } }],
    ["a number with a limit", { type: "number", minimum: 0 }],
    ["a text with a description", { type: "string", description: "A city" }],
    ["a choice", { type: "string", enum: ["a", "b"] }],
    ["several types", { type: ["string", "null"] }],
    ["a union", { anyOf: [{ type: "string" }, { type: "number" }] }],
    ["nothing", { type: "null" }],
  ])("%s is a JSON Schema", (_, schema) => {
    expect(readSchema(schema, "output").jsonSchema).toBe(schema);
  });

  it.each([
    ["a field called type", { type: "string" }],
    ["fields called type and title", { type: "string", title: "string?" }],
    ["fields called type and name", { type: "string", name: "string" }],
  ])("%s is the short notation", (_, schema) => {
    expect(Object.keys(readSchema(schema, "output").jsonSchema["properties"] as object)).toEqual(Object.keys(schema));
  });

  it("the types know the same rule", () => {
    expectTypeOf<InputOf<{ readonly type: "number"; readonly minimum: 0 }>>().toEqualTypeOf<number>();
    expectTypeOf<InputOf<{ readonly type: "string"; readonly enum: readonly ["a", "b"] }>>().toEqualTypeOf<"a" | "b">();
    expectTypeOf<InputOf<{ readonly type: "array"; readonly items: object }>>().toEqualTypeOf<unknown>();
    expectTypeOf<InputOf<{ readonly type: "string" }>["type"]>().toEqualTypeOf<string>();
    expectTypeOf<InputOf<{ readonly type: "string"; readonly name: "string" }>["name"]>().toEqualTypeOf<string>();
    expectTypeOf<InputOf<{ readonly title: "string" }>["title"]>().toEqualTypeOf<string>();
  });

  it("a mistyped field beside one called type is still found", () => {
    expect(() => readSchema({ type: "string", name: "strnig" }, "output")).toThrow(/output\.name is "strnig"/);
  });

  it("a tool whose input is no object is refused", () => {
    const make = () => tool("t", "T", { type: "array", items: {} }, () => 1);
    expect(codeOf(make)).toBe("invalid-option");
    expect(make).toThrow(/type "array"/);
  });
});

describe("S2-35: types that are none are compile errors where they are written", () => {
  it("and refused at the definition, for those without a compiler", () => {
    // @ts-expect-error there is no such type
    expect(() => tool("t", "T", { a: "nubmer" }, () => 1)).toThrow(/a is "nubmer"/);
    // @ts-expect-error there is no such type in the list
    expect(() => tool("t", "T", { a: "number", b: "strin[]" }, () => 1)).toThrow(/b is "strin\[\]"/);
    // @ts-expect-error there is no such type within
    expect(() => tool("t", "T", { to: { x: "nubmer" } }, () => 1)).toThrow(/to\.x is "nubmer"/);
    // @ts-expect-error nor when the definition is one object
    expect(() => tool({ name: "t", description: "T", input: { a: "bool" }, run: () => 1 })).toThrow(/a is "bool"/);
  });

  it("what is right stays right", () => {
    const wide: Record<string, unknown> = { type: "object" };
    const names: { readonly a: string } = { a: "number" };
    expect(() => {
      tool("t", "T", { a: "number", "b?": "string[]", c: ["x", 1], d: { type: "string", format: "date" } }, () => 1);
      tool("t", "T", { where: { street: "string?", tags: "any[]" } }, () => 1);
      tool("t", "T", { type: "object", properties: { a: { type: "nubmer" } } }, () => 1);
      tool("t", "T", { $ref: "#/$defs/a", $defs: { a: { type: "object" } } }, () => 1);
      tool("t", "T", { anyOf: [{ type: "object" }] }, () => 1);
      tool("t", "T", wide, () => 1);
      tool("t", "T", names, () => 1);
      tool("t", "T", {}, () => 1);
    }).not.toThrow();
  });
});
