import { checkInput, checkNames, wholeNumber } from "#domain";
import { type InputOf, readSchema, type Schema, type SchemaInput } from "#tools";

/** An answer's schema, with how often an answer that does not fit is sent back. */
export interface OutputRequest<Given extends SchemaInput = SchemaInput> {
  /** The schema the answer has to fit. */
  readonly schema: Given;
  /** The JSON Schema that models are shown, for a schema that cannot be written as one. */
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  /** Times the model is told what did not fit, and asked again. Default 2; 0 for none. */
  readonly repairs: number;
}

/** What `run.output()` gives: the value a schema describes, or the text when there is none. */
export type OutputOf<Output> = Output extends { readonly schema: infer Given; readonly repairs: number }
  ? InputOf<Given>
  : Output extends SchemaInput
    ? InputOf<Output>
    : string;

/** The option `output`, read. */
export interface ReadOutput {
  readonly schema: Schema;
  readonly repairs: number | undefined;
}

const REQUEST_FIELDS = ["schema", "jsonSchema", "repairs"] as const satisfies readonly (keyof OutputRequest)[];

/**
 * Reads the option `output`: a schema, or `{ schema, repairs }`. The number tells them apart, because no notation of a
 * schema has a number for a field.
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
  // Any number: one under a misspelt name is to be told the right one.
  return Object.hasOwn(output, "schema") && Object.values(output).some((value) => typeof value === "number");
}
