import type { NextTurn } from "#domain";
import type { JsonSchema, Parsed, Schema } from "./json-schema.ts";
import { moveReferences } from "./move-references.ts";
import { type FieldType, isShorthand, type Shorthand, shorthandToJsonSchema } from "./shorthand.ts";
import { isStandardSchema, type StandardSchema } from "./standard-schema.ts";

/** Creates the schema of one field. `field` names it in errors. */
export interface FieldReader {
  readStandard(schema: StandardSchema, field: string): Schema;
  readJson(schema: JsonSchema, field: string): Schema;
}

/**
 * Whether an object consists of fields of which at least one is a schema of another library: `{ a: z.number() }`, which
 * zod calls a raw shape. The other fields may use the short notation.
 */
export function isShape(input: object): input is Shorthand {
  const values = Object.values(input);
  return values.some(isStandardSchema) || (isShorthand(input) && values.some(isInnerShape));
}

function isInnerShape(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !isShorthand(value)) return false;
  return typeof (value as JsonSchema)["type"] !== "string" && isShape(value);
}

/** Reads such fields as one object. As with zod's own objects, an undeclared field is left out of the value. */
export function readShape(fields: Shorthand, field: string, reader: FieldReader): Schema {
  const parts = Object.entries(fields).map(([key, type]) => readPart(key, type, field, reader));
  const placed = parts.map(({ name, schema }, index) => placeSchema(schema.jsonSchema, name, index));
  const definitions = placed.flatMap((part) => part.definitions);
  return {
    jsonSchema: {
      type: "object",
      // `fromEntries` defines properties instead of assigning them: a field called "__proto__" stays a field.
      properties: Object.fromEntries(placed.map(({ name, jsonSchema }) => [name, jsonSchema])),
      required: parts.filter((part) => !part.isOptional).map(({ name }) => name),
      additionalProperties: false,
      ...(definitions.length > 0 && { $defs: Object.fromEntries(definitions) }),
    },
    parse: (value, nextTurn) => parseParts(parts, value, nextTurn),
  };
}

interface FieldSchema {
  readonly name: string;
  readonly jsonSchema: JsonSchema;
  readonly definitions: readonly (readonly [string, unknown])[];
}

/**
 * The schema of a field as a part of the schema of all fields. Each was written by itself, as the root of its references;
 * its definitions move to the top level, where vendors look for them, under names that no other field uses.
 */
function placeSchema(schema: JsonSchema, name: string, index: number): FieldSchema {
  const { $defs, definitions, ...rest } = schema;
  const field = name.replaceAll("~", "~0").replaceAll("/", "~1");
  const move = (pointer: string): string => {
    const definition = /^\/(?:\$defs|definitions)\/(.*)$/s.exec(pointer)?.[1];
    return definition === undefined ? `/properties/${encodeURI(field)}${pointer}` : `/$defs/${index}_${definition}`;
  };
  const all = Object.entries({ ...(definitions as object | undefined), ...($defs as object | undefined) });
  return {
    name,
    jsonSchema: moveReferences(rest, move) as JsonSchema,
    definitions: all.map(([key, value]) => [`${index}_${key}`, moveReferences(value, move)] as const),
  };
}

interface Part {
  readonly name: string;
  readonly schema: Schema;
  readonly isOptional: boolean;
  /** A missing field is passed to its schema as `undefined`, because the schema may have a default for it. */
  readonly readsMissing: boolean;
}

function readPart(key: string, type: unknown, field: string, reader: FieldReader): Part {
  const name = key.endsWith("?") ? key.slice(0, -1) : key;
  const path = `${field}.${name}`;
  if (isStandardSchema(type)) {
    const isOptional = key.endsWith("?") || takesNothing(type);
    return {
      name,
      schema: reader.readStandard(type, path),
      isOptional,
      readsMissing: !key.endsWith("?") || takesNothing(type),
    };
  }
  const isOptional = key.endsWith("?") || (typeof type === "string" && type.endsWith("?"));
  if (isInnerShape(type)) {
    return { name, schema: readShape(type as Shorthand, path, reader), isOptional, readsMissing: false };
  }
  const { properties } = shorthandToJsonSchema({ [name]: type as FieldType }, field);
  const jsonSchema = (properties as Readonly<Record<string, JsonSchema>>)[name] as JsonSchema;
  return { name, schema: reader.readJson(jsonSchema, path), isOptional, readsMissing: false };
}

/** Whether a schema accepts a missing value: only then may the field be left out. */
function takesNothing(schema: StandardSchema): boolean {
  try {
    const outcome = schema["~standard"].validate(undefined);
    if (!(outcome instanceof Promise)) return outcome.issues === undefined;
    outcome.catch(() => undefined);
    return false;
  } catch {
    return false;
  }
}

async function parseParts(parts: readonly Part[], value: unknown, nextTurn?: NextTurn): Promise<Parsed> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { fits: false, problem: "it must be an object" };
  }
  const given = value as Readonly<Record<string, unknown>>;
  const entries: [string, unknown][] = [];
  const problems: string[] = [];
  for (const { name, schema, isOptional, readsMissing } of parts) {
    const isThere = Object.hasOwn(given, name);
    if (!isThere && !readsMissing) {
      if (!isOptional) problems.push(`${name}: it is missing`);
      continue;
    }
    const parsed = await schema.parse(isThere ? given[name] : undefined, nextTurn);
    if (!parsed.fits) problems.push(`${name}: ${parsed.problem}`);
    else if (isThere || parsed.value !== undefined) entries.push([name, parsed.value]);
  }
  if (problems.length > 0) return { fits: false, problem: problems.slice(0, 5).join("; ") };
  return { fits: true, value: Object.fromEntries(entries) };
}
