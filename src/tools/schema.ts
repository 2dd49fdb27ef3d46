import { describeThrown, StartError } from "#domain";
import type { JsonSchema, Schema } from "./json-schema.ts";
import { checkJsonSchema } from "./check-json-schema.ts";
import { type FieldReader, isShape, readShape } from "./shape.ts";
import { type CheckedShorthand, isShorthand, type Shorthand, shorthandToJsonSchema } from "./shorthand.ts";
import { isStandardSchema, type StandardIssue, type StandardSchema } from "./standard-schema.ts";
import { writeJsonSchema } from "./write-json-schema.ts";

export type { Parsed, Schema } from "./json-schema.ts";
export type { StandardSchema } from "./standard-schema.ts";

/** A Standard Schema of a library that cannot write JSON Schema, with the JSON Schema that models are to be shown. */
export interface ShownSchema<Input = unknown, Output = Input> {
  readonly schema: StandardSchema<Input, Output>;
  readonly jsonSchema: JsonSchema;
}

/** How a caller says what a tool takes, or what a run is to answer. */
export type SchemaInput = Shorthand | StandardSchema | ShownSchema | JsonSchema;

/** A schema as it was written; in the short notation a type that is none is an error where it is written. */
export type CheckedSchema<Given> = Given extends StandardSchema | ShownSchema ? Given : CheckedShorthand<Given>;

/**
 * Reads a schema in any of the notations. `field` names it in the error (`tool "add": input`).
 *
 * @throws StartError `invalid-option` when it is none of them, or cannot be shown to a model.
 */
export function readSchema(input: SchemaInput, field: string): Schema {
  if (isStandardSchema(input)) return READER.readStandard(input, field);
  if (isShownSchema(input)) return readStandardSchema(input.schema, checkShown(input.jsonSchema, field));
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new StartError(
      "invalid-option",
      `${field} is ${describe(input)}. Give fields such as { a: "number" }, a Standard Schema (zod, valibot, arktype), one with its JSON Schema ({ schema, jsonSchema }), or a JSON Schema.`,
    );
  }
  if (isShape(input)) return readShape(input, field, READER);
  return READER.readJson(isShorthand(input) ? shorthandToJsonSchema(input, field) : (input as JsonSchema), field);
}

const READER: FieldReader = {
  readStandard: (schema, field) => readStandardSchema(schema, writeJsonSchema(schema, field)),
  readJson(jsonSchema, field) {
    checkJsonSchema(jsonSchema, field);
    return { jsonSchema, parse: createJsonSchemaParser(jsonSchema) };
  },
};

function checkShown(jsonSchema: unknown, field: string): JsonSchema {
  if (typeof jsonSchema === "object" && jsonSchema !== null && !Array.isArray(jsonSchema)) return { ...jsonSchema };
  const remedy = jsonSchema === undefined ? "Give one, or the schema itself, without { schema }" : "Give a JSON Schema";
  throw new StartError("invalid-option", `${field}.jsonSchema is ${describe(jsonSchema)}. ${remedy}.`);
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

/** Fields called `schema` and `jsonSchema` are the short notation of a strange object, unless the first is a schema. */
function isShownSchema(value: unknown): value is ShownSchema {
  return typeof value === "object" && value !== null && "schema" in value && isStandardSchema(value.schema);
}

function describe(value: unknown): string {
  return value === null || value === undefined ? String(value) : Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
