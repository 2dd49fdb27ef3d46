import type { JsonSchema } from "#tools";
import { fitSchema } from "../output-schema.ts";
import type { SchemaDialect } from "../schema-dialect.ts";

/** What the Messages API takes as `output_config.format`. */
export const ANTHROPIC_SCHEMAS: SchemaDialect = {
  constraints: new Set(["minItems"]),
  formats: new Set("date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" ")),
  mostMinItems: 1,
  hasConst: true,
  isRecursive: false,
  allRequired: false,
  maxDepth: 32,
  maxOptional: 24,
  maxUnions: 16,
};

/** The model's own name in what a host calls it: `anthropic/claude-sonnet-4.5`. */
const CLAUDE = /(?:^|[/.])((?:claude|offline)[^/]*)$/;

/** The models before 4.5, by their names: `claude-3-7-sonnet-…`, `claude-opus-4-1-…`, `claude-sonnet-4-20250514`. */
const OLDER =
  /^claude-(?:instant|v?[1-3](?:[-.]|$)|(?:opus|sonnet|haiku)-(?:[1-3](?:[-.]|$)|4(?:[-.][01])?(?:-\d{8})?$))/;

/** Whether a model can be asked for answers of a form. Hosts that imitate the API mostly ignore the field. */
export function checkAnthropicOutput(model: string, schema: JsonSchema): true | string {
  const name = CLAUDE.exec(model)?.[1];
  if (name === undefined) return `${model} is no Claude model, and other models may ignore the form`;
  if (OLDER.test(name)) return `${model} came before Claude 4.5 and cannot be asked for a form`;
  const fitted = fitSchema(schema, ANTHROPIC_SCHEMAS);
  return "why" in fitted ? fitted.why : true;
}
