import { describeThrown, StartError } from "#domain";
import type { JsonSchema, Schema } from "./json-schema.ts";
import { checkJsonSchema } from "./check-json-schema.ts";
import type { SchemaFault, StepwiseCheck } from "./stepwise-check.ts";
import { type FieldReader, isShape, readShape } from "./shape.ts";
import { type CheckedShorthand, isShorthand, type Shorthand, shorthandToJsonSchema } from "./shorthand.ts";
import { isStandardSchema, type StandardIssue, type StandardSchema } from "./standard-schema.ts";
import { writeJsonSchema } from "./write-json-schema.ts";

export type { Parsed, Schema } from "./json-schema.ts";
export type { StandardSchema } from "./standard-schema.ts";

/** A Standard Schema of a library that cannot produce JSON Schema, with the JSON Schema to show to models. */
export interface ShownSchema<Input = unknown, Output = Input> {
  readonly schema: StandardSchema<Input, Output>;
  readonly jsonSchema: JsonSchema;
}

/** The notations for the input of a tool or the output of a run. */
export type SchemaInput = Shorthand | StandardSchema | ShownSchema | JsonSchema;

/** A schema as written; in the short notation, an unknown type is a compile error at its place. */
export type CheckedSchema<Given> = Given extends StandardSchema | ShownSchema ? Given : CheckedShorthand<Given>;

/**
 * Reads a schema in any of the notations. `field` names it in the error (`tool "add": input`).
 *
 * @throws StartError `invalid-option` if it is none of them, or cannot be shown to a model.
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
    return { jsonSchema, keepsValue: true, parse: createJsonSchemaParser(jsonSchema) };
  },
};

function checkShown(jsonSchema: unknown, field: string): JsonSchema {
  if (typeof jsonSchema === "object" && jsonSchema !== null && !Array.isArray(jsonSchema)) {
    checkJsonSchema({ ...jsonSchema }, `${field}.jsonSchema`);
    return { ...jsonSchema };
  }
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
  let checking: Promise<StepwiseCheck> | undefined;
  return async (value, nextTurn) => {
    // Loaded at the first call, so that importing this package does not load a validator that may never be needed.
    checking ??= Promise.all([import("@cfworker/json-schema"), import("./stepwise-check.ts")]).then(
      ([validator, { StepwiseCheck }]) => new StepwiseCheck(jsonSchema, validator),
    );
    try {
      const faults = await (await checking).check(value, nextTurn);
      return faults.length === 0 ? { fits: true, value } : { fits: false, problem: describeFaults(faults) };
    } catch (error) {
      return { fits: false, problem: `the schema itself cannot be used: ${describeThrown(error)}` };
    }
  };
}

/** Keywords whose errors only say that something below does not match; the error below says what. */
const SURROUNDING: ReadonlySet<string> = new Set([
  "properties",
  "items",
  "prefixItems",
  "additionalProperties",
  "$ref",
  "allOf",
]);

function describeFaults(faults: readonly SchemaFault[]): string {
  const leaves = faults.filter((fault) => !SURROUNDING.has(fault.keyword) && fault.keyword !== "false");
  const named = leaves.length > 0 ? leaves : faults;
  return named
    .slice(0, 5)
    .map((fault) => `${fault.instanceLocation.replace(/^#\/?/, "") || "input"}: ${asClause(fault.error)}`)
    .join("; ");
}

function describeIssue(issue: StandardIssue): string {
  const path = issue.path?.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
  const message = asClause(issue.message);
  return path === undefined || path === "" ? message : `${path}: ${message}`;
}

/** Without the full stop at its end: the sentence around it has its own. */
function asClause(message: string): string {
  return message.trimEnd().replace(/\.$/u, "");
}

/**
 * Fields called `schema` and `jsonSchema` are the short notation of an unusual object, unless the first is a schema.
 */
function isShownSchema(value: unknown): value is ShownSchema {
  return typeof value === "object" && value !== null && "schema" in value && isStandardSchema(value.schema);
}

function describe(value: unknown): string {
  return value === null || value === undefined ? String(value) : Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
