import { isRecord, type JsonRecord, ownArray, ownRecord, ownString, ownValue } from "#wire";
import { invalid } from "./invalid.ts";

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_DEPTH = 64;

/** Keywords that are not permitted in strict mode. */
const FORBIDDEN: readonly string[] = [
  "allOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentRequired",
  "dependentSchemas",
  "patternProperties",
  "propertyNames",
  "prefixItems",
  "contains",
  "minLength",
  "maxLength",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "default",
];

/** Refuses a response format that OpenAI refuses. `format` has the fields name, schema and strict. */
export function checkJsonSchema(format: JsonRecord, path: string): void {
  const name = ownString(format, "name") ?? "";
  if (!NAME.test(name)) throw invalid(`${path}.name`, `"${name}" has to match ${NAME.source}.`);
  const schema = ownRecord(format, "schema");
  if (schema === undefined) throw invalid(`${path}.schema`, "a JSON Schema is required.");
  if (schema.type !== "object") {
    const given = JSON.stringify(ownValue(schema, "type")) ?? "missing";
    throw invalid(`${path}.schema`, `the type is ${given}, and must be "object".`);
  }
  if (Object.hasOwn(schema, "anyOf")) throw invalid(`${path}.schema`, "anyOf cannot stand at the top.");
  if (format.strict === true) checkStrictSchema(schema, `${path}.schema`);
}

/** In strict mode every object is closed, every property is required, and only some keywords are supported. */
export function checkStrictSchema(schema: unknown, path: string): void {
  checkPart(schema, path, 0);
}

function checkPart(schema: unknown, path: string, depth: number): void {
  if (!isRecord(schema)) throw invalid(path, "must be a schema.");
  if (depth > MAX_DEPTH) throw invalid(path, "the schema is nested too deeply.");
  for (const [name, entry] of Object.entries(ownRecord(schema, "$defs") ?? {})) {
    checkPart(entry, `${path}.$defs.${name}`, depth + 1);
  }
  if (Object.hasOwn(schema, "$ref")) {
    const others = Object.keys(schema).filter((keyword) => !keyword.startsWith("$"));
    if (others.length > 0) throw invalid(path, `$ref cannot stand beside ${others.join(", ")}.`);
    return;
  }
  const forbidden = FORBIDDEN.find((keyword) => Object.hasOwn(schema, keyword));
  if (forbidden !== undefined) throw invalid(path, `'${forbidden}' is not permitted in strict mode.`);
  const hasType = ["type", "anyOf", "enum", "const"].some((keyword) => Object.hasOwn(schema, keyword));
  if (!hasType) throw invalid(path, "has to have a type.");
  if (schema.type === "object") checkObject(schema, path, depth);
  if (Object.hasOwn(schema, "items")) checkPart(ownValue(schema, "items"), `${path}.items`, depth + 1);
  else if (schema.type === "array") throw invalid(path, "a list has to say what its items are.");
  for (const variant of ownArray(schema, "anyOf") ?? []) checkPart(variant, `${path}.anyOf`, depth + 1);
}

function checkObject(schema: JsonRecord, path: string, depth: number): void {
  if (schema.additionalProperties !== false) throw invalid(path, "additionalProperties must be false in strict mode.");
  const required = new Set(ownArray(schema, "required") ?? []);
  for (const [name, property] of Object.entries(ownRecord(schema, "properties") ?? {})) {
    if (!required.has(name)) throw invalid(path, `the property "${name}" must be in required in strict mode.`);
    checkPart(property, `${path}.${name}`, depth + 1);
  }
}
