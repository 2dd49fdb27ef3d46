import type { JsonSchema } from "#tools";
import type { OutputSpec } from "../backend.ts";
import { fitSchema } from "../output-schema.ts";
import type { SchemaDialect } from "../schema-dialect.ts";
import type { ProviderProfile } from "./profiles.ts";

/** What OpenAI takes as a strict schema. */
const STRICT_SCHEMAS: SchemaDialect = {
  constraints: new Set(
    "pattern multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems".split(" "),
  ),
  formats: new Set("date-time time date duration email hostname ipv4 ipv6 uuid".split(" ")),
  mostMinItems: Number.POSITIVE_INFINITY,
  hasConst: true,
  isRecursive: true,
  allRequired: true,
  maxDepth: 5,
  maxOptional: Number.POSITIVE_INFINITY,
  maxUnions: Number.POSITIVE_INFINITY,
};

/** Whether a model can be asked for answers of a form. One that it cannot promise to keep to, it still tries to. */
export function checkOpenaiOutput(
  {
    provider,
    model,
    profile,
  }: { readonly provider: string; readonly model: string; readonly profile: ProviderProfile },
  schema: JsonSchema,
): true | string {
  if (profile.outputForm === undefined) return `not every model of ${provider} can be asked for a form`;
  if (profile.outputForm.except?.test(model) === true) return `${model} cannot be asked for a form`;
  return schema.type === "object" ? true : "it does not describe an object";
}

/** The `response_format` of a request. */
export function encodeOutput({ name, schema }: OutputSpec, profile: ProviderProfile): object {
  const fitted = profile.outputForm?.strict === true ? fitSchema(schema, STRICT_SCHEMAS) : undefined;
  const isStrict = fitted !== undefined && "schema" in fitted;
  return {
    type: "json_schema",
    json_schema: { name, strict: isStrict, schema: isStrict ? fitted.schema : schema },
  };
}
