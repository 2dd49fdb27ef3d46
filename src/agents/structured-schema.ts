import { type JsonSchema, moveReferences } from "#tools";

/**
 * Returns the schema of an object that holds the value in its field `value`. Definitions move to the top level, where
 * vendors look for them; references to the schema itself are adjusted to its new position.
 */
export function wrapSchema(schema: JsonSchema): JsonSchema {
  const { $schema: _, $defs, definitions, ...rest } = schema;
  return {
    type: "object",
    properties: { value: moveReferences(rest, movePointer) },
    required: ["value"],
    additionalProperties: false,
    ...($defs !== undefined && { $defs: moveReferences($defs, movePointer) }),
    ...(definitions !== undefined && { definitions: moveReferences(definitions, movePointer) }),
  };
}

function movePointer(pointer: string): string {
  return /^\/(\$defs|definitions)\//.test(pointer) ? pointer : `/properties/value${pointer}`;
}
