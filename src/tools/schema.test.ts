import { Validator } from "@cfworker/json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
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
  it("arktype: its own JSON Schema is used, its own check is made, and its types are the tool's", async () => {
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

  it("valibot, which writes no JSON Schema: the caller gives it next to the schema", async () => {
    const made = tool("order", "Order", { schema: order, jsonSchema: shown }, (input) => {
      expectTypeOf(input).toEqualTypeOf<{ item: string; size: number }>();
      return input;
    });
    expect(made.inputSchema).toEqual(shown);
    expect(await made.parse({ item: "tea", size: "3" })).toEqual({ fits: true, value: { item: "tea", size: 3 } });
    expect(await made.parse({ item: "tea", size: "0" })).toEqual({ fits: false, problem: "size: too small" });
  });

  it("F-C14: valibot alone is used with its converter, and its types are the tool's", async () => {
    const made = tool("order", "Order", order, (input) => {
      expectTypeOf(input).toEqualTypeOf<{ item: string; size: number }>();
      return input;
    });
    expect(made.inputSchema).toEqual({
      type: "object",
      properties: { item: { type: "string" }, size: { type: "string" } },
      required: ["item", "size"],
    });
    expect(await made.parse({ item: "tea", size: "3" })).toEqual({ fits: true, value: { item: "tea", size: 3 } });
    expect(await made.parse({ item: "tea", size: "0" })).toEqual({ fits: false, problem: "size: too small" });
  });

  it("an invalid JSON Schema next to it is rejected", () => {
    const make = () => tool("order", "Order", { schema: order, jsonSchema: "object" as never }, () => 1);
    expect(make).toThrow(/input\.jsonSchema is a string/);
    const misspelt = { schema: order, jsonSchema: { type: "object", properties: { n: { type: "strng" } } } };
    expect(() => readSchema(misspelt, "output")).toThrow(/output\.jsonSchema\.properties\.n\.type is "strng"/);
  });

  it("fields that happen to be named schema and jsonSchema are the short notation", () => {
    expect(readSchema({ schema: "string", jsonSchema: "string" }, "input").jsonSchema).toMatchObject({
      properties: { schema: { type: "string" }, jsonSchema: { type: "string" } },
    });
  });

  /** A schema of a library version without Standard JSON Schema. */
  const withoutOwn = <Given extends { readonly "~standard": object }>(schema: Given): Given =>
    Object.create(schema, { "~standard": { value: { ...schema["~standard"], jsonSchema: undefined } } });

  const even = (value: number): boolean => value % 2 === 0;

  it.each([
    ["zod", z.object({ n: z.string().transform(Number).refine(even, "odd") })],
    ["zod 4.0", withoutOwn(z.object({ n: z.string().transform(Number).refine(even, "odd") }))],
    ["zod 3", z3.object({ n: z3.string().transform(Number).refine(even, "odd") })],
    ["valibot", v.object({ n: v.pipe(v.string(), v.transform(Number), v.check(even, "odd")) })],
    [
      "arktype",
      type({
        n: type("string")
          .pipe(Number)
          .narrow((value, ctx) => even(value) || ctx.reject("odd")),
      }),
    ],
    [
      "arktype 2.1",
      withoutOwn(
        type({
          n: type("string")
            .pipe(Number)
            .narrow((value, ctx) => even(value) || ctx.reject("odd")),
        }),
      ),
    ],
  ])("F-C14: %s: what it takes is shown, its transforms and refinements are applied", async (_, given) => {
    const { jsonSchema, parse } = readSchema(given as never, "output");
    expect(jsonSchema).toMatchObject({ type: "object", properties: { n: { type: "string" } }, required: ["n"] });
    expect(jsonSchema).not.toHaveProperty("$schema");
    expect(await parse({ n: "4" })).toEqual({ fits: true, value: { n: 4 } });
    expect(await parse({ n: "3" })).toEqual({ fits: false, problem: expect.stringMatching(/^n: .*odd/) });
  });

  it("F-C14: a library without a conversion to JSON Schema is rejected with what to write", () => {
    const unknown = {
      "~standard": { version: 1, vendor: "homemade", validate: (value: unknown) => ({ value }) },
    } as const;
    expect(() => readSchema(unknown, "output")).toThrow(/^output is a homemade schema .*\{ schema, jsonSchema \}/);
  });

  it.each([
    ["zod", z.object({ when: z.object({ day: z.date() }) }), "output.when.day: Date"],
    ["zod, in a list", z.object({ all: z.array(z.object({ big: z.bigint() })) }), "output.all.items.big: BigInt"],
    ["zod, optional", z.object({ all: z.record(z.string(), z.symbol()).optional() }), "output.all.values: Symbol"],
    ["valibot", v.object({ when: v.optional(v.object({ day: v.date() })) }), 'output.when.day: The "date" schema'],
    ["arktype", type({ when: { day: "Date" } }), "output.when.day: date"],
    ["arktype, no object", type({ when: { big: "bigint" } }), "output.when.big: domain"],
    ["zod 3", z3.object({ when: z3.object({ day: z3.date() }) }), "output.when.day: Date"],
    ["zod 3, in a list", z3.object({ all: z3.array(z3.object({ big: z3.bigint() })) }), "output.all.items.big: BigInt"],
    ["zod 3, refined", z3.object({ a: z3.map(z3.string(), z3.number()).refine(() => true) }), "output.a: Map"],
    ["zod 3, in a union", z3.object({ a: z3.union([z3.string(), z3.set(z3.string())]) }), "output.a.anyOf[1]: Set"],
    ["valibot, in a union", v.object({ a: v.union([v.string(), v.date()]) }), 'output.a.anyOf[1]: The "date" schema'],
  ])("F-D8: %s: the field that has no JSON form is named", (_, given, named) => {
    expect(codeOf(() => readSchema(given as never, "output"))).toBe("invalid-option");
    expect(() => readSchema(given as never, "output")).toThrow(named);
  });

  it.each([
    ["zod 3, a pipe", z3.object({ a: z3.string().transform(Number).pipe(z3.number()) }), { a: "3" }, { a: 3 }],
    ["zod 3, preprocessed", z3.object({ a: z3.preprocess(Number, z3.number()) }), { a: 3 }, { a: 3 }],
    [
      "zod 3, coerced",
      z3.object({ a: z3.coerce.date() }),
      { a: "2026-01-01T00:00:00Z" },
      { a: new Date("2026-01-01") },
    ],
    [
      "zod 3, preprocessed into a date",
      z3.object({ a: z3.preprocess((given) => new Date(String(given)), z3.date()) }),
      { a: "2026-01-01T00:00:00Z" },
      { a: new Date("2026-01-01") },
    ],
    ["zod, a pipe", z.object({ a: z.string().transform(Number).pipe(z.number()) }), { a: "3" }, { a: 3 }],
  ])("F-C1: %s: what models are shown is what the schema takes", async (_, given, good, value) => {
    const { jsonSchema, parse } = readSchema(given as never, "output");
    expect(new Validator(jsonSchema, "2020-12").validate(good).valid).toBe(true);
    expect(await parse(good)).toEqual({ fits: true, value });
  });

  it("all three libraries give the same message for a missing value", async () => {
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

describe("F-C8: fields that are schemas of a library", () => {
  interface Tree {
    readonly v: number;
    readonly kids?: readonly Tree[] | undefined;
  }
  const tree = z.object({
    v: z.number(),
    get kids() {
      return z.array(tree).optional();
    },
  });
  const tree3: z3.ZodType<Tree> = z3.lazy(() => z3.object({ v: z3.number(), kids: z3.array(tree3).optional() }));
  const valibotTree: v.GenericSchema<Tree> = v.object({
    v: v.number(),
    kids: v.optional(v.array(v.lazy(() => valibotTree))),
  });

  it.each([
    ["zod", { a: tree, b: tree }],
    ["zod 3", { a: tree3, b: tree3.optional() }],
    ["valibot", { a: valibotTree, b: valibotTree }],
    ["several libraries, and names with signs of a pointer", { "a/~%ä": tree, b: valibotTree, inner: { c: tree3 } }],
  ])("refer to themselves where they stand: %s", (_, fields) => {
    const { jsonSchema } = readSchema(fields as never, "output");
    const good = { v: 1, kids: [{ v: 2, kids: [{ v: 3 }] }] };
    const bad = { v: 1, kids: [{ v: 2, kids: [{ v: "3" }] }] };
    const fill = (value: unknown): object =>
      Object.fromEntries(Object.keys(fields).map((name) => [name, name === "inner" ? { c: value } : value]));
    const validator = new Validator(jsonSchema, "2020-12");
    expect(validator.validate(fill(good)).valid).toBe(true);
    for (const name of Object.keys(fields)) {
      const wrong = { ...fill(good), [name]: name === "inner" ? { c: bad } : bad };
      expect(validator.validate(wrong).valid, name).toBe(false);
    }
  });

  const shape = {
    a: z.number().min(1),
    b: z.string().optional(),
    c: z.string().default("x"),
    d: "integer?",
    inner: { e: v.pipe(v.string(), v.transform(Number)) },
  } as const;

  it("form an object of these fields, with their types", async () => {
    const made = tool("t", "T", shape, (input) => {
      expectTypeOf(input.a).toEqualTypeOf<number>();
      expectTypeOf(input.b).toEqualTypeOf<string | undefined>();
      expectTypeOf(input.c).toEqualTypeOf<string>();
      expectTypeOf(input.d).toEqualTypeOf<number | undefined>();
      expectTypeOf(input.inner.e).toEqualTypeOf<number>();
      expectTypeOf<{ a: 1; c: ""; inner: { e: 1 } }>().toExtend<typeof input>();
      return input;
    });
    expect(made.inputSchema).toEqual({
      type: "object",
      properties: {
        a: { type: "number", minimum: 1 },
        b: { type: "string" },
        c: { type: "string", default: "x" },
        d: { type: "integer" },
        inner: {
          type: "object",
          properties: { e: { type: "string" } },
          required: ["e"],
          additionalProperties: false,
        },
      },
      required: ["a", "inner"],
      additionalProperties: false,
    });
    expect(await made.parse({ a: 2, inner: { e: "7" }, other: 1 })).toEqual({
      fits: true,
      value: { a: 2, c: "x", inner: { e: 7 } },
    });
  });

  it.each([
    ["no object", 7, "it must be an object"],
    ["a field that is missing", { inner: { e: "1" } }, /^a: .*expected number/],
    ["an object that is missing", { a: 1 }, "inner: it is missing"],
    ["a wrong field within", { a: 1, inner: { e: 1 } }, /^inner: e: .*string/],
    ["a wrong field of the short notation", { a: 1, d: 1.5, inner: { e: "1" } }, /^d: /],
  ])("reject %s by name", async (_, value, problem) => {
    const parsed = await readSchema(shape, "input").parse(value);
    expect(parsed).toEqual({
      fits: false,
      problem: typeof problem === "string" ? problem : expect.stringMatching(problem),
    });
  });

  it("a schema of a library inside a JSON Schema is rejected by name", () => {
    expect(() => readSchema({ type: "object", properties: { a: z.number() } }, "output")).toThrow(
      /^output\.properties\.a is a zod schema inside a JSON Schema/,
    );
  });
});

describe("F-D8: a JSON Schema that cannot be used names its field", () => {
  it.each([
    [
      { type: "object", properties: { a: { type: "nubmer" } } },
      /^output\.properties\.a\.type is "nubmer".*"number"\?$/,
    ],
    [
      { type: "object", properties: { a: { type: "STRING" } } },
      /^output\.properties\.a\.type is "STRING".*"string"\?$/,
    ],
    [{ type: "object", properties: { a: 7 } }, /^output\.properties\.a is 7/],
    [{ type: "object", properties: [] }, /^output\.properties is /],
    [{ type: "object", properties: {}, required: "a" }, /^output\.required is "a"/],
    [
      { type: "array", items: { anyOf: [{}, { pattern: "(" }] } },
      /^output\.items\.anyOf\[1\]\.pattern is not a regular/,
    ],
    [{ type: "array", items: { $ref: "#/$defs/x" } }, /^output\.items\.\$ref is "#\/\$defs\/x", which is nowhere/],
    [{ type: "array", items: { enum: "a" } }, /^output\.items\.enum is "a"/],
    [{ a: { type: "list" } }, /^output\.properties\.a\.type is "list"/],
  ])("%j", (schema, message) => {
    expect(() => readSchema(schema, "output")).toThrow(message);
  });

  it("references that resolve are accepted", () => {
    const tree = {
      $defs: { "a/b": { type: "object", properties: { next: { $ref: "#/$defs/a~1b" } } } },
      anyOf: [{ $ref: "#" }, { $ref: "#/$defs/a~1b" }, { $ref: "https://example.com/other" }, true],
      items: [{ type: ["string", "null"] }],
    };
    expect(readSchema(tree, "output").jsonSchema).toBe(tree);
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

  it("the types follow the same rule", () => {
    expectTypeOf<InputOf<{ readonly type: "number"; readonly minimum: 0 }>>().toEqualTypeOf<number>();
    expectTypeOf<InputOf<{ readonly type: "string"; readonly enum: readonly ["a", "b"] }>>().toEqualTypeOf<"a" | "b">();
    expectTypeOf<InputOf<{ readonly type: "array"; readonly items: object }>>().toEqualTypeOf<unknown>();
    expectTypeOf<InputOf<{ readonly type: "string" }>["type"]>().toEqualTypeOf<string>();
    expectTypeOf<InputOf<{ readonly type: "string"; readonly name: "string" }>["name"]>().toEqualTypeOf<string>();
    expectTypeOf<InputOf<{ readonly title: "string" }>["title"]>().toEqualTypeOf<string>();
  });

  it("a mistyped field next to one called type is still found", () => {
    expect(() => readSchema({ type: "string", name: "strnig" }, "output")).toThrow(/output\.name is "strnig"/);
  });

  it("a tool whose input is not an object is rejected", () => {
    const make = () => tool("t", "T", { type: "array", items: {} }, () => 1);
    expect(codeOf(make)).toBe("invalid-option");
    expect(make).toThrow(/type "array"/);
  });
});

describe("S2-35: invalid types are compile errors where they are written", () => {
  it("and rejected at the definition, for users without a compiler", () => {
    // @ts-expect-error there is no such type
    expect(() => tool("t", "T", { a: "nubmer" }, () => 1)).toThrow(/a is "nubmer"/);
    // @ts-expect-error there is no such type in the list
    expect(() => tool("t", "T", { a: "number", b: "strin[]" }, () => 1)).toThrow(/b is "strin\[\]"/);
    // @ts-expect-error there is no such type within
    expect(() => tool("t", "T", { to: { x: "nubmer" } }, () => 1)).toThrow(/to\.x is "nubmer"/);
    // @ts-expect-error nor when the definition is one object
    expect(() => tool({ name: "t", description: "T", input: { a: "bool" }, run: () => 1 })).toThrow(/a is "bool"/);
  });

  it("valid types are accepted", () => {
    const wide: Record<string, unknown> = { type: "object" };
    const names: { readonly a: string } = { a: "number" };
    expect(() => {
      tool("t", "T", { a: "number", "b?": "string[]", c: ["x", 1], d: { type: "string", format: "date" } }, () => 1);
      tool("t", "T", { where: { street: "string?", tags: "any[]" } }, () => 1);
      tool("t", "T", { type: "object", properties: { a: { type: "number" } } }, () => 1);
      tool("t", "T", { $ref: "#/$defs/a", $defs: { a: { type: "object" } } }, () => 1);
      tool("t", "T", { anyOf: [{ type: "object" }] }, () => 1);
      tool("t", "T", wide, () => 1);
      tool("t", "T", names, () => 1);
      tool("t", "T", {}, () => 1);
    }).not.toThrow();
  });
});
