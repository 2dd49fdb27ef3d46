import fc from "fast-check";

// Schemas as callers write them: what every vendor takes, what only some take, and what no vendor can be asked for.
// Each has values that fit, and the offline model finds one: no patterns, no limits that contradict each other.

type Schema = Readonly<Record<string, unknown>>;

const annotation = fc.constantFrom<Schema>(
  {},
  { description: "A thing" },
  { title: "T" },
  { default: 1 },
  { examples: [] },
);

const leaf = fc
  .tuple(
    fc.oneof(
      fc.constantFrom<Schema>(
        { type: "string" },
        { type: "string", format: "date" },
        { type: "string", format: "uri" },
        { type: "string", minLength: 3, maxLength: 20 },
        { type: "number" },
        { type: "number", minimum: 1, maximum: 10 },
        { type: "integer", exclusiveMinimum: 0, multipleOf: 2 },
        { type: "boolean" },
        { type: "null" },
        { enum: ["red", "green", 3] },
        { type: "string", enum: ["a", "b"] },
        { const: "fixed" },
        { type: ["string", "null"] },
        { $ref: "#/$defs/named" },
        { $ref: "#/$defs/named", description: "By name" },
      ),
      // An open object, and anything at all: no vendor promises those.
      fc.constantFrom<Schema>({ type: "object" }, { type: "object", additionalProperties: { type: "number" } }, {}),
    ),
    annotation,
  )
  .map(([schema, more]): Schema => ("$ref" in schema ? schema : { ...schema, ...more }));

const { tree } = fc.letrec<{ tree: Schema; object: Schema }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, depthIdentifier: "schema" },
    { weight: 3, arbitrary: leaf },
    { weight: 2, arbitrary: tie("object") },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant("array"),
        items: tie("tree"),
        minItems: fc.constantFrom(0, 1, 3),
      }),
    },
    { weight: 1, arbitrary: fc.array(tie("tree"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })) },
    { weight: 1, arbitrary: tie("tree").map((one) => ({ allOf: [one] })) },
  ),
  object: fc
    .record({
      fields: fc.dictionary(fc.constantFrom("a", "b", "answer", "$ref", "__proto__", "value", "ü x"), tie("tree"), {
        maxKeys: 3,
      }),
      closed: fc.constantFrom<Schema>({}, { additionalProperties: false }),
      isLoose: fc.boolean(),
    })
    .map(({ fields, closed, isLoose }) => ({
      type: "object",
      properties: fields,
      ...(isLoose ? {} : { required: Object.keys(fields) }),
      ...closed,
    })),
}));

/** A whole schema, with the definitions its references lead to. */
export const schemaCase: fc.Arbitrary<Schema> = fc.tuple(tree, fc.boolean()).map(([schema, isMarked]) => ({
  ...("$ref" in schema || "type" in schema || "anyOf" in schema ? schema : { anyOf: [schema] }),
  $defs: { named: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
  ...(isMarked && { $schema: "https://json-schema.org/draft/2020-12/schema" }),
}));
