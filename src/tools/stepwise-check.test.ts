import { Validator } from "@cfworker/json-schema";
import { describe, expect, it } from "vitest";
import type { JsonSchema } from "./json-schema.ts";
import { readSchema } from "./schema.ts";

const row = {
  type: "object",
  properties: { at: { type: "integer" }, name: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
  required: ["at", "name"],
  additionalProperties: false,
};
const rowsOf = (count: number) => Array.from({ length: count }, (_, at) => ({ at, name: `row ${at}` }));
const list = (more: object = {}): JsonSchema => ({ type: "array", items: row, ...more });
const fields = Object.fromEntries(rowsOf(600).map((value) => [value.name, value]));
const wrong = (value: object, at = 599) => Object.assign(rowsOf(600), { [at]: value });

const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  items: list(),
  "a list within an object": { type: "object", properties: { rows: list() }, required: ["rows"] },
  "a reference": { $ref: "#/$defs/rows", $defs: { rows: list(), row } },
  "references in members": { type: "array", items: { $ref: "#/$defs/row" }, $defs: { row } },
  "a reference to itself, in members": { anyOf: [{ type: "array", items: { $ref: "#" } }, row] },
  anyOf: { anyOf: [{ type: "null" }, list()] },
  oneOf: { oneOf: [list(), { type: "array", items: { required: ["other"] } }] },
  "oneOf, both": { oneOf: [list(), { type: "array" }] },
  allOf: { allOf: [list(), { minItems: 10 }] },
  "minItems and maxItems": list({ minItems: 10, maxItems: 600 }),
  uniqueItems: list({ uniqueItems: true }),
  "fields of any name": { type: "object", additionalProperties: row },
  "names of fields": { type: "object", propertyNames: { pattern: "^row " } },
  "no other fields": { type: "object", properties: { "row 1": row }, additionalProperties: false },
  "patternProperties, at once": { type: "object", patternProperties: { "^row": row }, additionalProperties: false },
  "prefixItems, at once": { type: "array", prefixItems: [row], items: row },
  "contains, at once": { type: "array", contains: { properties: { at: { const: 7 } } } },
  true: { type: "object", properties: { rows: true } },
};
const VALUES: Readonly<Record<string, unknown>> = {
  rows: rowsOf(600),
  "too many rows": rowsOf(601),
  "a wrong row": wrong({ at: "x", name: "row" }),
  "a row that lacks a field": wrong({ at: 1 }, 0),
  "a row with a field too many": wrong({ at: 1, name: "x", more: 1 }, 300),
  "the same row twice": wrong({ name: "row 3", at: 3 }),
  "a large row": wrong({ at: 1, name: "x", tags: Array.from({ length: 3000 }, String) }),
  "a large row with a fault": wrong({ at: 1, name: "x", tags: [...Array.from({ length: 3000 }, String), 7] }),
  "rows within an object": { rows: rowsOf(600) },
  "wrong rows within an object": { rows: wrong({}) },
  fields,
  "a wrong field": { ...fields, "row 7": { at: "x", name: "" } },
  "a field of another name": { ...fields, other: { at: 1, name: "x" } },
};

describe("F-B1: checking a large value member by member", () => {
  it.each(Object.keys(SCHEMAS))("%s: accepts the same values as a check at once", async (name) => {
    const schema = SCHEMAS[name] as JsonSchema;
    const { parse } = readSchema(structuredClone(schema), "schema");
    const whole = new Validator(structuredClone(schema) as object, "2020-12", false);
    const fits: Record<string, boolean> = {};
    const expected: Record<string, boolean> = {};
    for (const [what, value] of Object.entries(VALUES)) {
      fits[what] = (await parse(value)).fits;
      expected[what] = whole.validate(value).valid;
    }
    expect(fits).toEqual(expected);
  });

  it("names the position of a fault, and lets other work run in between", async () => {
    const { parse } = readSchema(list(), "schema");
    let turns = 0;
    const parsed = await parse(wrong({ at: "x", name: "row" }), async () => void (turns += 1));
    expect(parsed).toEqual({ fits: false, problem: expect.stringMatching(/^599\/at: .*integer/) });
    await parse(rowsOf(30_000), async () => void (turns += 1));
    expect(turns).toBeGreaterThan(10);
  });

  it("thirty thousand faults are summarised in a sentence, also in a list of unique items", async () => {
    const { parse } = readSchema(list(), "schema");
    const parsed = await parse(rowsOf(30_000).map(({ name }) => ({ at: name, name })));
    expect(parsed).toMatchObject({ fits: false, problem: expect.stringMatching(/^0\/at: /) });
    expect(parsed.fits ? "" : parsed.problem.length).toBeLessThan(1000);
    const unique = readSchema({ type: "array", uniqueItems: true }, "schema");
    expect(await unique.parse(rowsOf(30_000))).toMatchObject({ fits: true });
  });

  it("a schema that refers to itself at the same position cannot be used", async () => {
    const { parse } = readSchema({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }, "schema");
    expect(await parse(rowsOf(600))).toMatchObject({ fits: false, problem: expect.stringContaining("itself") });
  });
});
