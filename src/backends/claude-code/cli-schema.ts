import { isRecord } from "#wire";

type JsonSchema = Readonly<Record<string, unknown>>;

/** Keywords whose value is a schema or a list of schemas. */
const PARTS: ReadonlySet<string> = new Set(
  "not if then else propertyNames additionalProperties items contains anyOf oneOf allOf".split(" "),
);
/** Keywords whose value is an object of schemas. */
const NAMED_PARTS: ReadonlySet<string> = new Set("properties patternProperties $defs definitions".split(" "));

/** The other keywords that the CLI and the API both know. */
const PLAIN: ReadonlySet<string> = new Set(
  (
    "$ref type const enum required title description default examples deprecated readOnly writeOnly minimum maximum " +
    "exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems " +
    "minProperties maxProperties contentEncoding contentMediaType"
  ).split(" "),
);

/** Constraints that one of them does not know: they go into the description, so that the model is told. */
const TOLD: ReadonlySet<string> = new Set(
  (
    "format prefixItems additionalItems minContains maxContains dependentRequired dependentSchemas dependencies " +
    "unevaluatedItems unevaluatedProperties"
  ).split(" "),
);

/** Deeper parts are left unchanged. */
const MAX_DEPTH = 64;

/**
 * Rewrites a schema for the CLI, whose validator knows draft 7 without formats, while the API expects draft 2020-12. If
 * the CLI finds one keyword or format that it does not know, such as `format: "email"`, it drops the whole schema
 * without a word, and the model answers in plain text.
 */
export function fitJsonSchema(schema: JsonSchema, depth = 0): JsonSchema {
  if (depth > MAX_DEPTH) return schema;
  const within = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(within);
    return isRecord(part) ? fitJsonSchema(part, depth + 1) : part;
  };
  const told = findTold(schema);
  const fields: [string, unknown][] = [];
  const notes: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (told.has(keyword)) notes.push(`${keyword}: ${JSON.stringify(value)}`);
    else if (PARTS.has(keyword)) fields.push([keyword, within(value)]);
    else if (NAMED_PARTS.has(keyword) && isRecord(value)) {
      fields.push([keyword, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, within(part)]))]);
    } else if (PLAIN.has(keyword)) fields.push([keyword, value]);
  }
  if (notes.length > 0) {
    const said = typeof schema.description === "string" ? `${schema.description}\n` : "";
    fields.push(["description", said + notes.join(", ")]);
  }
  return Object.fromEntries(fields);
}

/** Some keywords are known, but not together with the others of this schema. */
function findTold(schema: JsonSchema): ReadonlySet<string> {
  const has = (keyword: string): boolean => Object.hasOwn(schema, keyword);
  const told = new Set(TOLD);
  if (has("prefixItems") || Array.isArray(schema.items)) told.add("items");
  // A named field that fits a pattern as well is an error there.
  if (has("properties") && has("patternProperties")) told.add("patternProperties").add("additionalProperties");
  if (!has("then") && !has("else")) told.add("if");
  if (!has("if")) told.add("then").add("else");
  return told;
}
