import { createRequire } from "node:module";
import { describeThrown, StartError } from "#domain";
import { findFault } from "./find-fault.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { StandardSchema } from "./standard-schema.ts";

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
    const { path, reason } = findFault(schema, convert, describeThrown(error));
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

/** A definition of zod 3, as its converter passes it on. */
interface Zod3Definition {
  readonly typeName: string;
  readonly coerce?: boolean;
  readonly effect?: { readonly type: string };
  readonly schema?: unknown;
}

/** Types of zod 3 that its converter shows as something that the schema then refuses: a date as a text, a bigint as a number. */
const ZOD3_WITHOUT_JSON: ReadonlySet<string> = new Set(
  ["BigInt", "Date", "Function", "Map", "NaN", "Promise", "Set", "Symbol"].map((name) => `Zod${name}`),
);

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
      : loadZod3Converter(field);
  }
  throw new StartError(
    "invalid-option",
    `${field} is a ${vendor} schema that cannot be shown as JSON Schema. Give a JSON Schema together with it, as ` +
      "{ schema, jsonSchema }, or use a library that implements Standard JSON Schema (zod, valibot, arktype).",
  );
}

function loadZod3Converter(field: string): Convert {
  const { zodToJsonSchema, ignoreOverride } = loadModule("zod-to-json-schema", field);
  // With the default, a pipe is shown as a value that is both what goes in and what comes out.
  const options = { $refStrategy: "root", pipeStrategy: "input" };
  const override = (definition: Zod3Definition): unknown => {
    // What is preprocessed may become anything before it is checked.
    if (definition.effect?.type === "preprocess") {
      return zodToJsonSchema?.(definition.schema, { ...options, $refStrategy: "none" });
    }
    if (ZOD3_WITHOUT_JSON.has(definition.typeName) && definition.coerce !== true) {
      throw new TypeError(`${definition.typeName.slice(3)} cannot be represented in JSON Schema`);
    }
    return ignoreOverride;
  };
  return (schema) => zodToJsonSchema?.(schema, { ...options, override }) ?? {};
}

function loadConverter(name: string, member: string, field: string, options: object): Convert {
  const convert = loadModule(name, field)[member];
  return (schema) => convert?.(schema, options) ?? {};
}

/** Defining a tool is synchronous, so the converter is required rather than imported. */
function loadModule(name: string, field: string): ConverterModule {
  try {
    return createRequire(import.meta.url)(name) as ConverterModule;
  } catch (error) {
    throw new StartError(
      "invalid-option",
      `${field} has to be written as JSON Schema with ${name}, which cannot be loaded (${describeThrown(error)}). ` +
        `Install it: npm install ${name.split("/v4")[0]}. Or give the JSON Schema together with the schema, as { schema, jsonSchema }.`,
      { cause: error },
    );
  }
}
