import type { JsonSchema } from "#tools";
import { fitSchema } from "../output-schema.ts";
import type { SchemaDialect } from "../schema-dialect.ts";
import { modelGeneration } from "./model-generation.ts";

/** What Gemini takes as `responseJsonSchema`. Circles are taken, but only unrolled a little. */
export const GEMINI_SCHEMAS: SchemaDialect = {
  constraints: new Set(["minimum", "maximum", "minItems", "maxItems"]),
  formats: new Set(["date-time", "date", "time"]),
  mostMinItems: Number.POSITIVE_INFINITY,
  hasConst: false,
  isRecursive: false,
  allRequired: false,
  maxDepth: 32,
  maxOptional: Number.POSITIVE_INFINITY,
  maxUnions: Number.POSITIVE_INFINITY,
};

/** Whether a model can be asked for answers of a form. Before Gemini 3 a form and functions exclude each other. */
export function checkGeminiOutput(model: string, schema: JsonSchema, hasTools: boolean): true | string {
  const generation = modelGeneration(model);
  if (generation !== undefined && generation < 2) return `${model} came before Gemini 2 and takes no JSON Schema`;
  if (hasTools && (generation ?? 0) < 3) return `${model} takes no form beside tools; Gemini 3 does`;
  const fitted = fitSchema(schema, GEMINI_SCHEMAS);
  return "why" in fitted ? fitted.why : true;
}
