import type { JsonSchema } from "#tools";

/** Keywords whose values are instances, not schemas: a `$ref` in them is not a reference. */
const VALUES: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

/** No vendor supports deeper schemas. Deeper parts are left unchanged. */
const MAX_DEPTH = 64;

/**
 * Returns the schema of an object that holds the value in its field `value`. Definitions move to the top level, where
 * vendors look for them; references to the schema itself are adjusted to its new position.
 */
export function wrapSchema(schema: JsonSchema): JsonSchema {
  const { $schema: _, $defs, definitions, ...rest } = schema;
  return {
    type: "object",
    properties: { value: moveReferences(rest, 0) },
    required: ["value"],
    additionalProperties: false,
    ...($defs !== undefined && { $defs: moveReferences($defs, 0) }),
    ...(definitions !== undefined && { definitions: moveReferences(definitions, 0) }),
  };
}

function moveReferences(part: unknown, depth: number): unknown {
  if (typeof part !== "object" || part === null || depth > MAX_DEPTH) return part;
  if (Array.isArray(part)) return part.map((entry) => moveReferences(entry, depth + 1));
  // `fromEntries` defines properties instead of assigning them, so a field named `__proto__` stays a field.
  return Object.fromEntries(
    Object.entries(part).map(([keyword, value]) => {
      if (keyword === "$ref" && typeof value === "string") return [keyword, moveReference(value)];
      return [keyword, VALUES.has(keyword) ? value : moveReferences(value, depth + 1)];
    }),
  );
}

function moveReference(target: string): string {
  if (!target.startsWith("#") || /^#\/(\$defs|definitions)\//.test(target)) return target;
  return `#/properties/value${target.slice(1)}`;
}
