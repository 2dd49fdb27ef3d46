/** Keywords whose values are instances, not schemas: a `$ref` in them is not a reference. */
const VALUES: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

/** No vendor supports deeper schemas. Deeper parts are left unchanged. */
const MAX_DEPTH = 64;

/**
 * Adjusts the references within a JSON Schema that becomes a part of another one. `move` gets what follows the `#` of each
 * reference, and returns what follows it from now on.
 */
export function moveReferences(part: unknown, move: (pointer: string) => string, depth = 0): unknown {
  if (typeof part !== "object" || part === null || depth > MAX_DEPTH) return part;
  if (Array.isArray(part)) return part.map((entry) => moveReferences(entry, move, depth + 1));
  // `fromEntries` defines properties instead of assigning them, so a field named `__proto__` stays a field.
  return Object.fromEntries(
    Object.entries(part).map(([keyword, value]) => {
      if (keyword === "$ref" && typeof value === "string" && value.startsWith("#")) {
        return [keyword, `#${move(value.slice(1))}`];
      }
      return [keyword, VALUES.has(keyword) ? value : moveReferences(value, move, depth + 1)];
    }),
  );
}
