import type { JsonSchema } from "#tools";
import { describe, expect, it } from "vitest";
import { ANTHROPIC_SCHEMAS, checkAnthropicOutput } from "../anthropic/request.ts";
import { checkGeminiOutput, GEMINI_SCHEMAS } from "../gemini/request.ts";
import { checkOpenaiOutput, encodeOutput } from "../openai-chat/request.ts";
import { PROFILES } from "../openai-chat/profile.ts";
import { fitSchema } from "./output-schema.ts";

const object = (properties: object, more: object = {}): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const fitted = (schema: JsonSchema, dialect = ANTHROPIC_SCHEMAS) => {
  const found = fitSchema(schema, dialect);
  return "why" in found ? found.why : found.schema;
};

describe("a schema as a vendor accepts it", () => {
  it("what the vendor supports stays unchanged", () => {
    const schema = object({ a: { type: "string", format: "date" }, b: { type: "array", items: { type: "number" } } });
    expect(fitted(schema)).toEqual(schema);
  });

  it("objects are closed, annotations removed, values get their type", () => {
    const given = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { a: { enum: ["x", "y"] }, b: { const: 7, default: 7 }, c: { enum: ["x", null] } },
      required: ["a"],
    };
    expect(fitted(given)).toEqual({
      type: "object",
      properties: {
        a: { type: "string", enum: ["x", "y"] },
        b: { type: "number", const: 7 },
        c: { type: ["string", "null"], enum: ["x", null] },
      },
      required: ["a"],
      additionalProperties: false,
    });
  });

  it("constraints that the vendor does not enforce are moved to the description", () => {
    const given = object({ a: { type: "integer", minimum: 1, maximum: 5, description: "Stars" } });
    expect(fitted(given)).toEqual(object({ a: { type: "integer", description: "Stars\nminimum: 1, maximum: 5" } }));
    expect(fitted(given, GEMINI_SCHEMAS)).toEqual(given);
    const items = { type: "array", items: { type: "string" } };
    expect(fitted(object({ a: { ...items, minItems: 3 } }))).toEqual(
      object({ a: { ...items, description: "minItems: 3" } }),
    );
    expect(fitted(object({ a: { ...items, minItems: 1 } }))).toEqual(object({ a: { ...items, minItems: 1 } }));
  });

  it("const becomes an enum of one where const is not supported, and oneOf becomes anyOf", () => {
    const given = object({ a: { oneOf: [{ const: "x" }, { type: "null" }] } });
    expect(fitted(given, GEMINI_SCHEMAS)).toEqual(
      object({ a: { anyOf: [{ type: "string", enum: ["x"] }, { type: "null" }] } }),
    );
  });

  it("references lose their sibling keywords and keep their definitions", () => {
    const given = object({ a: { $ref: "#/$defs/b", description: "The b" } }, { $defs: { b: { type: "string" } } });
    expect(fitted(given)).toEqual(object({ a: { $ref: "#/$defs/b" } }, { $defs: { b: { type: "string" } } }));
  });

  it("a field called __proto__ stays a field", () => {
    const given = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}');
    const found = fitted(given) as { properties: object };
    expect(Object.keys(found.properties)).toEqual(["__proto__"]);
  });

  it.each([
    ["no object", { type: "array", items: { type: "string" } }, /not describe an object/],
    ["fields without names", object({}, { additionalProperties: { type: "string" } }), /not named/],
    ["any fields at all", object({ a: { type: "object" } }), /any fields/],
    ["no type", object({ a: {} }), /properties\/a says no type/],
    ["true for a schema", object({ a: true }), /is true/],
    ["allOf", object({ a: { allOf: [{ type: "string" }] } }), /"allOf"/],
    ["objects as choices", object({ a: { enum: [{}] } }), /not a list of strings/],
    ["definitions below the top", object({ a: { type: "string", $defs: {} } }), /belong to the top/],
    ["a reference to elsewhere", object({ a: { $ref: "https://x.test/s" } }), /not one of its own/],
    ["a reference to nothing", object({ a: { $ref: "#/$defs/b" } }), /not there/],
    ["a reference with more beside it", object({ a: { $ref: "#", type: "string" } }), /beside its \$ref/],
    ["a circle to the top", object({ a: { $ref: "#" } }), /itself/],
    [
      "a circle of definitions",
      object(
        { a: { $ref: "#/$defs/b" } },
        {
          $defs: {
            b: { type: "array", items: { $ref: "#/$defs/c" } },
            c: { type: "array", items: { $ref: "#/$defs/b" } },
          },
        },
      ),
      /itself/,
    ],
    [
      "too many optional fields",
      object(Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`f${n}`, { type: "string" }])), { required: [] }),
      /25 fields/,
    ],
  ] as [string, JsonSchema, RegExp][])("%s cannot be said", (_, schema, why) => {
    expect(fitted(schema)).toMatch(why);
  });

  it("endless nesting is rejected, not followed", () => {
    let deep: JsonSchema = { type: "string" };
    for (let level = 0; level < 10_000; level += 1) deep = { type: "array", items: deep };
    expect(fitted(object({ a: deep }))).toMatch(/levels deep/);
  });
});

describe("which models support it", () => {
  const schema = object({ a: { type: "number" } });

  it.each([
    ["claude-sonnet-4-5", true],
    ["claude-haiku-4-5-20251001", true],
    ["claude-opus-4-6", true],
    ["claude-opus-5", true],
    ["anthropic/claude-sonnet-4.6", true],
    ["offline", true],
    ["claude-3-7-sonnet-20250219", false],
    ["claude-3-5-haiku-latest", false],
    ["claude-sonnet-4-20250514", false],
    ["claude-sonnet-4-0", false],
    ["claude-opus-4-1-20250805", false],
    ["claude-2.1", false],
    ["claude-instant-1.2", false],
    ["anthropic/claude-opus-4.1", false],
    ["glm-4.6", false],
  ])("anthropic, %s: %s", (model, expected) => {
    expect(checkAnthropicOutput(model, schema) === true).toBe(expected);
  });

  it.each([
    ["gpt-5", true],
    ["gpt-4o", true],
    ["gpt-4.1-mini", true],
    ["o3", true],
    ["gpt-4o-2024-05-13", false],
    ["gpt-4-turbo", false],
    ["gpt-4", false],
    ["gpt-3.5-turbo", false],
    ["o1-mini", false],
  ])("openai, %s: %s", (model, expected) => {
    expect(checkOpenaiOutput({ provider: "openai", model, profile: PROFILES.openai }, schema) === true).toBe(expected);
  });

  it("compatible hosts: by their profile", () => {
    const ask = (provider: keyof typeof PROFILES) =>
      checkOpenaiOutput({ provider, model: "m", profile: PROFILES[provider] }, schema);
    expect(ask("vllm")).toBe(true);
    for (const provider of ["openrouter", "deepseek"] as const) expect(ask(provider)).toContain(provider);
  });

  it.each([
    ["gemini-2.5-pro", false, true],
    ["gemini-2.5-pro", true, false],
    ["gemini-3-pro-preview", true, true],
    ["gemini-1.5-flash", false, false],
    ["gemini-flash-latest", false, true],
    ["gemini-flash-latest", true, false],
  ])("google, %s with tools %s: %s", (model, hasTools, expected) => {
    expect(checkGeminiOutput(model, schema, hasTools) === true).toBe(expected);
  });
});

describe("OpenAI's strict mode", () => {
  const encode = (schema: JsonSchema, profile: Parameters<typeof encodeOutput>[1] = PROFILES.openai) =>
    encodeOutput({ name: "answer", schema }, profile);

  it("is used if the schema qualifies, also if it only had to be closed", () => {
    const open = object({ a: { type: "string" } }, { additionalProperties: undefined });
    const { additionalProperties: _, ...withoutIt } = open;
    expect(encode(withoutIt)).toEqual({
      type: "json_schema",
      json_schema: { name: "answer", strict: true, schema: object({ a: { type: "string" } }) },
    });
  });

  it("accepts recursion, and patterns without lookahead and lookbehind", () => {
    const tree = object({
      next: { anyOf: [{ $ref: "#" }, { type: "null" }] },
      id: { type: "string", pattern: "^[a-z]+$" },
    });
    expect(encode(tree)).toMatchObject({ json_schema: { strict: true, schema: tree } });
    const looking = object({ mail: { type: "string", format: "email", pattern: "^(?!\\.)" } });
    expect(encode(looking)).toMatchObject({
      json_schema: {
        strict: true,
        schema: object({ mail: { type: "string", format: "email", description: 'pattern: "^(?!\\\\.)"' } }),
      },
    });
  });

  it.each([
    ["optional fields", object({ a: { type: "string" } }, { required: [] })],
    ["open objects", object({ a: { type: "object" } })],
    [
      "more than five levels",
      object({ a: object({ a: object({ a: object({ a: object({ a: object({ a: { type: "null" } }) }) }) }) }) }),
    ],
  ])("is not asked for with %s: the schema goes as it is", (_, schema) => {
    expect(encode(schema)).toEqual({ type: "json_schema", json_schema: { name: "answer", strict: false, schema } });
  });

  it("is not used with hosts that do not have it", () => {
    const schema = object({ a: { type: "string" } });
    expect(encode(schema, PROFILES.vllm)).toMatchObject({ json_schema: { strict: false, schema } });
  });
});
