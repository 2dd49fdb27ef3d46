import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "#wire";
import { fuzzRuns } from "../../../test/effort.ts";
import { buildInstance, type Source } from "./instance.ts";

const runs = Math.min(fuzzRuns(5000), 5000);
const source: Source = {
  question: "Is it 7 in Oslo?",
  texts: ["Oslo"],
  numbers: [7, 8],
  answer: undefined,
  answerNumber: undefined,
};
const build = (schema: JsonRecord): unknown => buildInstance(schema, source);

describe("the smallest value that fits a schema", () => {
  it.each<[JsonRecord, unknown]>([
    [{ type: "string" }, "Oslo"],
    [{ type: "number", minimum: 10 }, 10],
    [{ type: "integer", exclusiveMaximum: 5 }, 4],
    [{ type: "integer", multipleOf: 5, minimum: 6 }, 10],
    [{ type: "array", items: { type: "number" }, minItems: 3 }, [7, 8, 8]],
    [{ type: "array", items: { type: "number" } }, []],
    [{ enum: ["rome", "oslo"] }, "oslo"],
    [{ const: 5 }, 5],
    [{ type: ["null", "boolean"] }, true],
    [{ anyOf: [{ type: "null" }, { type: "number" }] }, 7],
    [{ type: "string", format: "date" }, "2026-01-01"],
    [{ type: "string", minLength: 6, maxLength: 6 }, "Oslo.."],
    [{ type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false, minItems: 2 }, ["Oslo", 7]],
    [{ type: "array", prefixItems: [{ type: "string" }], items: { type: "number" }, minItems: 2 }, ["Oslo", 7]],
    [
      { type: "object", additionalProperties: { type: "number" }, required: ["a", "b"] },
      { a: 7, b: 8 },
    ],
    [{ type: "number", description: "Stars\nminimum: 10, multipleOf: 4" }, 12],
    [{ type: "string", description: 'pattern: "^a, format: b$", format: "email"' }, "someone@example.com"],
    [{ type: "array", minItems: 1, description: 'prefixItems: [{"type":"number"}], items: false' }, [7]],
    [{ type: "number", description: "minimum: at least ten" }, 7],
    [{ type: "OBJECT", properties: { a: { type: "INTEGER" } } }, { a: 7 }],
    [{ type: "object", properties: { a: { type: "string" }, b: { type: "string" } }, required: ["b"] }, { b: "Oslo" }],
    [
      {
        $ref: "#/$defs/city",
        $defs: { city: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
      },
      { name: "Oslo" },
    ],
  ])("%j gives %j", (schema, expected) => {
    expect(build(schema)).toEqual(expected);
  });

  it("ends for a schema that refers to itself", () => {
    const schema = {
      $ref: "#/$defs/node",
      $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } }, required: ["next"] } },
    };
    expect(JSON.stringify(build(schema)).length).toBeLessThan(1000);
    expect(build({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } })).toBe("Oslo");
  });

  it("names no key of Object.prototype by accident", () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"number"}},"required":["__proto__"]}',
    ) as JsonRecord;
    expect(JSON.stringify(build(schema))).toBe('{"__proto__":7}');
    expect(({} as Record<string, unknown>).__proto__).toBe(Object.prototype);
  });

  it("is valid for any schema made of these parts", () => {
    const leaf = fc.oneof(
      fc.record({ type: fc.constant("string"), minLength: fc.nat(9), maxLength: fc.integer({ min: 10, max: 20 }) }),
      fc.record({
        type: fc.constant("integer"),
        minimum: fc.integer({ min: -50, max: 0 }),
        maximum: fc.integer({ min: 1, max: 50 }),
      }),
      fc.record({ type: fc.constant("number"), exclusiveMinimum: fc.integer({ min: -9, max: 20 }) }),
      fc.constant({ type: "boolean" }),
      fc.constant({ type: ["string", "null"] }),
      fc.record({ enum: fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1 }) }),
    );
    const { schema } = fc.letrec<{ schema: JsonRecord }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3 },
        leaf as fc.Arbitrary<JsonRecord>,
        fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.nat(3) }),
        fc.dictionary(fc.string(), tie("schema"), { maxKeys: 4 }).map((properties) => ({
          type: "object",
          properties,
          required: Object.keys(properties),
          additionalProperties: false,
        })),
        fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
      ),
    }));
    fc.assert(
      fc.property(schema, (given) => {
        const value = build(given);
        expect(new Validator(given as object, "2020-12").validate(value).errors).toEqual([]);
      }),
      { numRuns: runs },
    );
  });
});
