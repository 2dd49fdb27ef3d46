import { createRequire } from "node:module";
import { describeThrown, StartError } from "#domain";
import type { JsonSchema } from "./json-schema.ts";
import { isStandardSchema, type StandardSchema } from "./standard-schema.ts";

const TARGET = "draft-2020-12";

/**
 * Converts a Standard Schema to JSON Schema: with the library's own method if it has one, otherwise with its converter,
 * which is loaded on demand. `field` names the schema in the error.
 *
 * @throws StartError `invalid-option` naming the field within the schema that has no JSON form, or what to install.
 */
export function writeJsonSchema(schema: StandardSchema, field: string): JsonSchema {
  const convert = converterOf(schema, field);
  try {
    const { $schema: _, ...jsonSchema } = convert(schema);
    return jsonSchema;
  } catch (error) {
    const { path, reason } = findCulprit(schema, convert, describeThrown(error));
    const remedy =
      "Use a type that JSON has there, or give the JSON Schema together with the schema, as { schema, jsonSchema }";
    throw new StartError("invalid-option", `${[field, ...path].join(".")}: ${reason.replace(/\.$/, "")}. ${remedy}.`, {
      cause: error,
    });
  }
}

type Convert = (schema: unknown) => JsonSchema;

interface ArkSchema {
  toJsonSchema(options: object): JsonSchema;
}

interface ArkFallback {
  readonly code: string;
  readonly base: JsonSchema;
}

/** Constraints that JSON Schema cannot express are not shown to the model, but the schema itself still checks them. */
const ARK_OPTIONS = {
  fallback: {
    predicate: ({ base }: ArkFallback) => base,
    morph: ({ base }: ArkFallback) => base,
    default: ({ code }: ArkFallback) => {
      throw new TypeError(`${code} cannot be represented in JSON Schema`);
    },
  },
};

/** A library's converter, as far as it is used here. */
type ConverterModule = Readonly<Record<string, (schema: unknown, options: object) => JsonSchema>>;

function converterOf(schema: StandardSchema, field: string): Convert {
  const { jsonSchema, vendor } = schema["~standard"];
  // First, because arktype's Standard JSON Schema shows types without a JSON form, such as a Date, as any value.
  if (vendor === "arktype") return (one) => (one as ArkSchema).toJsonSchema(ARK_OPTIONS);
  if (jsonSchema !== undefined) {
    return (one) => (one as StandardSchema)["~standard"].jsonSchema?.input({ target: TARGET }) ?? {};
  }
  if (vendor === "valibot") {
    return loadConverter("@valibot/to-json-schema", "toJsonSchema", field, {
      typeMode: "input",
      target: TARGET,
      // Constraints that JSON Schema cannot express (v.check …) are not shown, but the schema itself still checks them.
      overrideAction: (context: { readonly errors?: unknown; readonly jsonSchema: object }) =>
        context.errors === undefined ? undefined : context.jsonSchema,
    });
  }
  if (vendor === "zod") {
    // zod 4 before 4.2, then zod 3.
    return "_zod" in schema
      ? loadConverter("zod/v4/core", "toJSONSchema", field, { io: "input", target: TARGET })
      : loadConverter("zod-to-json-schema", "zodToJsonSchema", field, { $refStrategy: "root" });
  }
  throw new StartError(
    "invalid-option",
    `${field} is a ${vendor} schema that cannot be shown as JSON Schema. Give a JSON Schema together with it, as ` +
      "{ schema, jsonSchema }, or use a library that implements Standard JSON Schema (zod, valibot, arktype).",
  );
}

/** Defining a tool is synchronous, so the converter is required rather than imported. */
function loadConverter(name: string, member: string, field: string, options: object): Convert {
  try {
    const module = createRequire(import.meta.url)(name) as ConverterModule;
    const convert = module[member] as ConverterModule[string];
    return (schema) => convert(schema, options);
  } catch (error) {
    throw new StartError(
      "invalid-option",
      `${field} has to be written as JSON Schema with ${name}, which cannot be loaded (${describeThrown(error)}). ` +
        `Install it: npm install ${name.split("/v4")[0]}. Or give the JSON Schema together with the schema, as { schema, jsonSchema }.`,
      { cause: error },
    );
  }
}

/** Finds the part of a schema that cannot be converted by itself: libraries name the type, not the field. */
function findCulprit(
  schema: unknown,
  convert: Convert,
  reason: string,
): { readonly path: readonly string[]; readonly reason: string } {
  const path: string[] = [];
  let culprit = { schema, reason };
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const next = partsOf(culprit.schema)
      .map(([name, part]) => ({ name, schema: part, reason: tryConvert(part, convert) }))
      .find((part) => part.reason !== undefined);
    if (next?.reason === undefined) break;
    if (next.name !== "") path.push(next.name);
    culprit = { schema: next.schema, reason: next.reason };
  }
  return { path, reason: culprit.reason };
}

/** A recursive schema has no deepest part. */
const MAX_DEPTH = 32;

function tryConvert(schema: unknown, convert: Convert): string | undefined {
  try {
    convert(schema);
    return undefined;
  } catch (error) {
    return describeThrown(error);
  }
}

/** The schemas within a schema, by the properties in which zod, valibot and arktype store them. */
function partsOf(schema: unknown): readonly (readonly [string, unknown])[] {
  const known = schema as Readonly<Record<string, unknown>>;
  const { innerType, valueType, in: input } = asRecord(known["def"]);
  const parts: (readonly [string, unknown])[] = [
    ...Object.entries(asRecord(known["shape"])),
    ...Object.entries(asRecord(known["entries"])),
    ...listOf(known["props"]).map((prop) => [String(asRecord(prop)["key"]), asRecord(prop)["value"]] as const),
    ["items", known["element"]],
    ["items", known["item"]],
    ...listEntries(known["options"], "anyOf"),
    ...listEntries(known["items"], "items"),
    ["", known["wrapped"]],
    ["", innerType],
    ["", input],
    ["values", valueType ?? known["value"]],
  ];
  return parts.filter(([, part]) => isStandardSchema(part));
}

function listEntries(list: unknown, name: string): (readonly [string, unknown])[] {
  return listOf(list).map((part, index) => [`${name}[${index}]`, part] as const);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  // The parts of an arktype schema are functions.
  const isHolder = (typeof value === "object" && value !== null) || typeof value === "function";
  return isHolder ? (value as Readonly<Record<string, unknown>>) : {};
}
