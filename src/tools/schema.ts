import { describeThrown, StartError } from "#domain";
import type { JsonSchema } from "./json-schema.ts";
import { isShorthand, type Shorthand, shorthandToJsonSchema } from "./shorthand.ts";

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

/** How a caller says what a tool takes, or what a run is to answer. */
export type SchemaInput = Shorthand | StandardSchema | JsonSchema;

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
  if (isStandardSchema(input)) return readStandardSchema(input, field);
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new StartError(
      "invalid-option",
      `${field} is ${describe(input)}. Give fields such as { a: "number" }, a Standard Schema (zod, valibot, arktype), or a JSON Schema.`,
    );
  }
  const jsonSchema = isShorthand(input) ? shorthandToJsonSchema(input, field) : (input as JsonSchema);
  return { jsonSchema, parse: createJsonSchemaParser(jsonSchema) };
}

function readStandardSchema(schema: StandardSchema, field: string): Schema {
  const standard = schema["~standard"];
  if (standard.jsonSchema === undefined) {
    throw new StartError(
      "invalid-option",
      `${field} is a ${standard.vendor} schema that cannot be shown as JSON Schema. ` +
        "Use a version that implements Standard JSON Schema (zod 4, arktype 2.2), or give a JSON Schema.",
    );
  }
  let jsonSchema: JsonSchema;
  try {
    jsonSchema = standard.jsonSchema.input({ target: "draft-2020-12" });
  } catch (error) {
    throw new StartError("invalid-option", `${field} cannot be written as JSON Schema: ${describeThrown(error)}`, {
      cause: error,
    });
  }
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
      return { fits: false, problem: `the tool's own schema cannot be used: ${describeThrown(error)}` };
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

function describe(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
