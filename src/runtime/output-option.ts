import { checkInput, checkNames, wholeNumber } from "#domain";
import { type InputOf, readSchema, type Schema, type SchemaInput } from "#tools";

/** The schema of an answer, with the number of repairs. */
export interface OutputRequest<Given extends SchemaInput = SchemaInput> {
  /** The schema that the answer must match. */
  readonly schema: Given;
  /** The JSON Schema shown to models, for a schema that cannot be converted to one. */
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  /** How often the model is told what did not match and asked again. Default 2; 0 for never. */
  readonly repairs: number;
}

/** What `run.output()` resolves to: the value that the schema describes, or the text when there is none. */
export type OutputOf<Output> = Output extends { readonly schema: infer Given; readonly repairs: number }
  ? InputOf<Given>
  : Output extends SchemaInput
    ? InputOf<Output>
    : string;

/** The parsed option `output`. */
export interface ReadOutput {
  readonly schema: Schema;
  readonly repairs: number | undefined;
}

const REQUEST_FIELDS = ["schema", "jsonSchema", "repairs"] as const satisfies readonly (keyof OutputRequest)[];

/**
 * Reads the option `output`: a schema, or `{ schema, repairs }`. A number among the fields distinguishes the two,
 * because no schema notation has a number as a field.
 *
 * @throws StartError naming the part that is wrong.
 */
export function readOutputOption(output: SchemaInput, field = "output"): ReadOutput {
  if (!isRequest(output)) return { schema: readSchema(output, field), repairs: undefined };
  checkNames(output, REQUEST_FIELDS, `${field}.`);
  const { schema, jsonSchema, repairs } = output;
  checkInput(wholeNumber(0), repairs, `${field}.repairs`);
  const given = jsonSchema === undefined ? schema : ({ schema, jsonSchema } as SchemaInput);
  return { schema: readSchema(given, `${field}.schema`), repairs };
}

function isRequest(output: unknown): output is OutputRequest {
  if (typeof output !== "object" || output === null) return false;
  // Any number, so that a misspelt field name is reported with the right one.
  return Object.hasOwn(output, "schema") && Object.values(output).some((value) => typeof value === "number");
}
