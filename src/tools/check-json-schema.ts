import { describeThrown, describeValue, nearestName, StartError } from "#domain";
import type { JsonSchema } from "./json-schema.ts";
import { isStandardSchema } from "./standard-schema.ts";

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ONE = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const MAPS = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/** Deeper schemas are left to the validator. */
const MAX_DEPTH = 64;

/**
 * Checks that a JSON Schema is usable: an unknown type, a reference to nothing or an invalid regular expression would
 * otherwise reject every answer, long after the start. `field` names the schema.
 *
 * @throws StartError `invalid-option` with the path to the part and the reason.
 */
export function checkJsonSchema(schema: JsonSchema, field: string): void {
  checkPart(schema, field, { root: schema, depth: 0 });
}

interface SchemaPosition {
  readonly root: JsonSchema;
  readonly depth: number;
}

function checkPart(part: unknown, path: string, { root, depth }: SchemaPosition): void {
  if (typeof part === "boolean" || depth > MAX_DEPTH) return;
  if (isStandardSchema(part)) {
    throw invalid(path, `is a ${part["~standard"].vendor} schema inside a JSON Schema. Use one notation for the whole`);
  }
  if (typeof part !== "object" || part === null || Array.isArray(part)) {
    throw invalid(path, `is ${describeValue(part)}, not a schema. Give an object such as { type: "string" }`);
  }
  const schema = part as JsonSchema;
  checkType(schema["type"], `${path}.type`);
  checkKeywords(schema, path);
  checkReference(schema["$ref"], `${path}.$ref`, root);
  const position = { root, depth: depth + 1 };
  for (const keyword of ONE) {
    const value = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    // Drafts before 2020-12 wrote a tuple as a list of items.
    if (keyword === "items" && Array.isArray(value)) checkList(value, `${path}.items`, position);
    else if (value !== undefined) checkPart(value, `${path}.${keyword}`, position);
  }
  for (const keyword of LISTS) {
    if (Object.hasOwn(schema, keyword)) checkList(schema[keyword], `${path}.${keyword}`, position);
  }
  for (const keyword of MAPS) {
    if (Object.hasOwn(schema, keyword)) checkMap(schema[keyword], `${path}.${keyword}`, position);
  }
}

function checkType(type: unknown, path: string): void {
  if (type === undefined) return;
  const names = Array.isArray(type) ? type : [type];
  for (const name of names) {
    if (typeof name === "string" && TYPES.includes(name)) continue;
    const near = typeof name === "string" ? nearestName(name.toLowerCase(), TYPES) : undefined;
    const remedy = near === undefined ? `Known: ${TYPES.join(", ")}` : `Did you mean "${near}"?`;
    throw invalid(path, `is ${describeValue(name)}, which is not a type of JSON Schema. ${remedy}`);
  }
}

function checkKeywords(schema: JsonSchema, path: string): void {
  const { required, enum: values, pattern } = schema;
  if (required !== undefined && typeof required !== "boolean" && !isTextList(required)) {
    throw invalid(`${path}.required`, `is ${describeValue(required)}. Give a list of the fields' names`);
  }
  if (values !== undefined && !Array.isArray(values)) {
    throw invalid(`${path}.enum`, `is ${describeValue(values)}. Give a list of the allowed values`);
  }
  if (typeof pattern !== "string") return;
  try {
    new RegExp(pattern, "u");
  } catch (error) {
    throw invalid(`${path}.pattern`, `is not a regular expression: ${describeThrown(error)}`);
  }
}

function checkReference(reference: unknown, path: string, root: JsonSchema): void {
  if (typeof reference !== "string" || !(reference === "#" || reference.startsWith("#/"))) return;
  let at: unknown = root;
  for (const step of reference.split("/").slice(1)) {
    const name = decodePointer(step);
    at = typeof at === "object" && at !== null && Object.hasOwn(at, name) ? (at as JsonSchema)[name] : undefined;
  }
  if (at === undefined) throw invalid(path, `is "${reference}", which is nowhere in the schema. Add it to $defs`);
}

function decodePointer(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return step;
  }
}

function checkList(list: unknown, path: string, position: SchemaPosition): void {
  if (!Array.isArray(list)) throw invalid(path, `is ${describeValue(list)}. Give a list of schemas`);
  for (const [index, part] of list.entries()) checkPart(part, `${path}[${index}]`, position);
}

function checkMap(map: unknown, path: string, position: SchemaPosition): void {
  if (typeof map !== "object" || map === null || Array.isArray(map)) {
    throw invalid(path, `is ${describeValue(map)}. Give an object of schemas`);
  }
  for (const [name, part] of Object.entries(map)) checkPart(part, `${path}.${name}`, position);
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}

function invalid(path: string, problem: string): StartError {
  return new StartError(
    "invalid-option",
    `${path} ${problem.replace(/[.?]$/, "")}${problem.endsWith("?") ? "?" : "."}`,
  );
}
