import { isRecord, type JsonRecord, ownArray, ownNumber, ownRecord, ownString, ownValue } from "#wire";
import { Refusal } from "../refusal.ts";

const MAX_DEPTH = 64;

/** Keywords that the vendor does not support. */
const UNSUPPORTED: readonly string[] = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "patternProperties",
  "prefixItems",
  "not",
  "if",
  "then",
  "else",
  "oneOf",
];

/** Refuses structured output that the Messages API refuses. */
export function checkAnthropicOutput(body: JsonRecord): void {
  const config = ownValue(body, "output_config");
  if (config === undefined || config === null) return;
  if (!isRecord(config)) throw new Refusal("invalid", "output_config: must be an object.");
  const format = ownValue(config, "format");
  if (format === undefined || format === null) return;
  const path = "output_config.format";
  if (!isRecord(format) || format.type !== "json_schema") {
    throw new Refusal("invalid", `${path}.type: must be json_schema.`);
  }
  for (const field of Object.keys(format)) {
    if (field !== "type" && field !== "schema") throw new Refusal("invalid", `${path}.${field}: is not permitted.`);
  }
  const schema = ownRecord(format, "schema");
  if (schema === undefined) throw new Refusal("invalid", `${path}.schema: a JSON Schema is required.`);
  checkPart(schema, { path: `${path}.schema`, root: schema, seen: [] }, 0);
}

interface SchemaPosition {
  readonly path: string;
  readonly root: JsonRecord;
  /** The references that lead here. */
  readonly seen: readonly string[];
}

function checkPart(part: unknown, place: SchemaPosition, depth: number): void {
  const { path } = place;
  if (!isRecord(part)) throw new Refusal("invalid", `${path}: must be a schema.`);
  if (depth > MAX_DEPTH) throw new Refusal("invalid", `${path}: the schema is nested too deeply.`);
  if (Object.hasOwn(part, "$ref")) return checkReference(part, place, depth);
  for (const keyword of UNSUPPORTED) {
    if (Object.hasOwn(part, keyword)) throw new Refusal("invalid", `${path}: the keyword ${keyword} is not supported.`);
  }
  if ((ownNumber(part, "minItems") ?? 0) > 1) throw new Refusal("invalid", `${path}: minItems must be 0 or 1.`);
  const below = (name: string, value: unknown): void =>
    checkPart(value, { ...place, path: `${path}.${name}` }, depth + 1);
  checkShape(part, path);
  for (const [name, value] of Object.entries(ownRecord(part, "properties") ?? {})) below(`properties.${name}`, value);
  if (Object.hasOwn(part, "items")) below("items", ownValue(part, "items"));
  for (const [index, value] of (ownArray(part, "anyOf") ?? ownArray(part, "allOf") ?? []).entries()) {
    below(`anyOf.${index}`, value);
  }
}

function checkShape(part: JsonRecord, path: string): void {
  const type = ownValue(part, "type");
  const hasType = ["enum", "const", "anyOf", "allOf"].some((keyword) => Object.hasOwn(part, keyword));
  if (type === undefined && !hasType) throw new Refusal("invalid", `${path}: a type is required.`);
  if (type !== "object") return;
  if (ownValue(part, "additionalProperties") !== false) {
    throw new Refusal("invalid", `${path}: for objects, additionalProperties must be given as false.`);
  }
}

/** References must stay within the schema and must not be circular. */
function checkReference(part: JsonRecord, place: SchemaPosition, depth: number): void {
  const target = ownString(part, "$ref") ?? "";
  const found = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(target);
  const definition = ownRecord(ownRecord(place.root, found?.[1] ?? "") ?? {}, found?.[2] ?? "");
  if (place.seen.includes(target) || target === "#") {
    throw new Refusal("invalid", `${place.path}: schemas that refer to themselves are not supported.`);
  }
  if (definition === undefined) throw new Refusal("invalid", `${place.path}: there is no definition "${target}".`);
  checkPart(definition, { ...place, path: target, seen: [...place.seen, target] }, depth + 1);
}
