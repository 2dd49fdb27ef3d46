import { describeThrown, StartError } from "#domain";
import type { JsonSchema } from "./json-schema.ts";
import { type CheckedShorthand, isShorthand, type Shorthand, shorthandToJsonSchema } from "./shorthand.ts";

/**
 * What any Standard Schema library (zod, valibot, arktype …) puts on its schemas. Written down here as structure, so
 * that none of them is a dependency.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardOutcome<Output> | Promise<StandardOutcome<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?:
      | { readonly input: (options: { readonly target: string }) => Record<string, unknown> }
      | undefined;
  };
}

type StandardOutcome<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A Standard Schema of a library that cannot write JSON Schema, with the JSON Schema that models are to be shown. */
export interface ShownSchema<Input = unknown, Output = Input> {
  readonly schema: StandardSchema<Input, Output>;
  readonly jsonSchema: JsonSchema;
}

/** How a caller says what a tool takes, or what a run is to answer. */
export type SchemaInput = Shorthand | StandardSchema | ShownSchema | JsonSchema;

/** A schema as it was written; in the short notation a type that is none is an error where it is written. */
export type CheckedSchema<Given> = Given extends StandardSchema | ShownSchema ? Given : CheckedShorthand<Given>;

/** A value that fits, or a sentence that tells what does not: it goes back to the model. */
export type Parsed =
  | { readonly fits: true; readonly value: unknown }
  | { readonly fits: false; readonly problem: string };

/** One schema with its two uses: to be shown, and to check a value. */
export interface Schema {
  readonly jsonSchema: JsonSchema;
  /** Never rejects. */
  parse(value: unknown): Promise<Parsed>;
}

/**
 * Reads a schema in any of the three notations. `field` names it in the error (`tool "add": input`).
 *
 * @throws StartError `invalid-option` when it is none of them, or cannot be shown to a model.
 */
export function readSchema(input: SchemaInput, field: string): Schema {
  if (isStandardSchema(input)) return readStandardSchema(input, writeJsonSchema(input, field));
  if (isShownSchema(input)) return readStandardSchema(input.schema, checkShown(input.jsonSchema, field));
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new StartError(
      "invalid-option",
      `${field} is ${describe(input)}. Give fields such as { a: "number" }, a Standard Schema (zod, arktype), one with its JSON Schema ({ schema, jsonSchema }), or a JSON Schema.`,
    );
  }
  const jsonSchema = isShorthand(input) ? shorthandToJsonSchema(input, field) : (input as JsonSchema);
  return { jsonSchema, parse: createJsonSchemaParser(jsonSchema) };
}

function writeJsonSchema(schema: StandardSchema, field: string): JsonSchema {
  const standard = schema["~standard"];
  if (standard.jsonSchema === undefined) {
    throw new StartError(
      "invalid-option",
      `${field} is a ${standard.vendor} schema that cannot be shown as JSON Schema. Give that beside it, as ` +
        "{ schema, jsonSchema }, or use a library that implements Standard JSON Schema (zod 4, arktype 2.2).",
    );
  }
  try {
    return standard.jsonSchema.input({ target: "draft-2020-12" });
  } catch (error) {
    throw new StartError("invalid-option", `${field} cannot be written as JSON Schema: ${describeThrown(error)}`, {
      cause: error,
    });
  }
}

function checkShown(jsonSchema: unknown, field: string): JsonSchema {
  if (typeof jsonSchema === "object" && jsonSchema !== null && !Array.isArray(jsonSchema)) return { ...jsonSchema };
  throw new StartError("invalid-option", `${field}.jsonSchema is ${describe(jsonSchema)}. Give a JSON Schema.`);
}

function readStandardSchema(schema: StandardSchema, jsonSchema: JsonSchema): Schema {
  const standard = schema["~standard"];
  return {
    jsonSchema,
    async parse(value) {
      try {
        const outcome = await standard.validate(value);
        if (outcome.issues === undefined) return { fits: true, value: outcome.value };
        return { fits: false, problem: outcome.issues.slice(0, 5).map(describeIssue).join("; ") };
      } catch (error) {
        return { fits: false, problem: describeThrown(error) };
      }
    },
  };
}

function createJsonSchemaParser(jsonSchema: JsonSchema): Schema["parse"] {
  let validator:
    | Promise<{ validate(value: unknown): { valid: boolean; errors: readonly JsonSchemaFault[] } }>
    | undefined;
  return async (value) => {
    // Loaded at the first call: a program that imports us does not pay for a validator it may never need.
    validator ??= import("@cfworker/json-schema").then(
      ({ Validator }) => new Validator(jsonSchema as ConstructorParameters<typeof Validator>[0], "2020-12", false),
    );
    try {
      const { valid, errors } = (await validator).validate(value);
      return valid ? { fits: true, value } : { fits: false, problem: describeFaults(errors) };
    } catch (error) {
      return { fits: false, problem: `the schema itself cannot be used: ${describeThrown(error)}` };
    }
  };
}

interface JsonSchemaFault {
  readonly instanceLocation: string;
  readonly keyword: string;
  readonly error: string;
}

/** Keywords that only say "something below does not fit"; the fault below says what. */
const SURROUNDING = new Set(["properties", "items", "prefixItems", "additionalProperties", "$ref", "allOf"]);

function describeFaults(faults: readonly JsonSchemaFault[]): string {
  const leaves = faults.filter((fault) => !SURROUNDING.has(fault.keyword) && fault.keyword !== "false");
  const named = leaves.length > 0 ? leaves : faults;
  return named
    .slice(0, 5)
    .map((fault) => `${fault.instanceLocation.replace(/^#\/?/, "") || "input"}: ${fault.error}`)
    .join("; ");
}

function describeIssue(issue: StandardIssue): string {
  const path = issue.path?.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
  return path === undefined || path === "" ? issue.message : `${path}: ${issue.message}`;
}

function isStandardSchema(value: unknown): value is StandardSchema {
  // arktype's schemas are functions.
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}

/** Fields called `schema` and `jsonSchema` are the short notation of a strange object, unless the first is a schema. */
function isShownSchema(value: unknown): value is ShownSchema {
  return typeof value === "object" && value !== null && "schema" in value && isStandardSchema(value.schema);
}

function describe(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
