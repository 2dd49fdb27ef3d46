import { describe, expect, it } from "vitest";
import { fitJsonSchema } from "./cli-schema.ts";

describe("F-C1: a schema for the CLI has only keywords that its validator supports", () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["leaves what it knows", { properties: { a: { pattern: "^a" } } }, { properties: { a: { pattern: "^a" } } }],
    [
      "drops what says nothing",
      { $schema: "x", $id: "y", "x-note": 1, nullable: true, type: "string" },
      { type: "string" },
    ],
    [
      "tells a format, after what is said already",
      { type: "string", description: "Where to write.", format: "email" },
      { type: "string", description: 'Where to write.\nformat: "email"' },
    ],
    [
      "tells the places of a tuple, which the two drafts write differently",
      { type: "array", prefixItems: [{ type: "string" }], items: false, minItems: 1 },
      { type: "array", minItems: 1, description: 'prefixItems: [{"type":"string"}], items: false' },
    ],
    [
      "tells the places of a tuple of draft 7",
      { type: "array", items: [{ type: "string" }], additionalItems: false },
      { type: "array", description: 'items: [{"type":"string"}], additionalItems: false' },
    ],
    [
      "tells patterns of names beside named fields, and with them that there are no others",
      { properties: { ab: {} }, patternProperties: { "^a": {} }, additionalProperties: false },
      { properties: { ab: {} }, description: 'patternProperties: {"^a":{}}, additionalProperties: false' },
    ],
    [
      "keeps patterns of names alone",
      { patternProperties: { "^a": { "x-a": 1 } } },
      { patternProperties: { "^a": {} } },
    ],
    ["tells a condition without a consequence", { if: {} }, { description: "if: {}" }],
    [
      "keeps a condition with one",
      { if: { format: "uri" }, then: true },
      { if: { description: 'format: "uri"' }, then: true },
    ],
    [
      "looks into every part, and takes no field for a keyword",
      {
        properties: { format: { anyOf: [{ format: "uri" }, true] } },
        $defs: { a: { items: { not: { format: "uri" } } } },
      },
      {
        properties: { format: { anyOf: [{ description: 'format: "uri"' }, true] } },
        $defs: { a: { items: { not: { description: 'format: "uri"' } } } },
      },
    ],
    [
      "leaves values alone",
      { const: { format: "x" }, enum: [{ $id: 1 }] },
      { const: { format: "x" }, enum: [{ $id: 1 }] },
    ],
  ])("%s", (_what, given, fitted) => {
    expect(fitJsonSchema(given)).toEqual(fitted);
  });
});
