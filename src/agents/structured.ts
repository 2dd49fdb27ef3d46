import type { ModelBackend, OutputSpec, ToolSpec } from "#backends";
import { describeThrown } from "#domain";
import type { JsonSchema, Parsed, Schema } from "#tools";
import { wrapSchema } from "./structured-schema.ts";

/** The tool a model is offered for its answer when the vendor cannot be asked for a form. Calling it ends the leg. */
export const OUTPUT_TOOL_NAME = "final_answer";

/** A model that gave an answer of the wrong form is told so, and asked again, so often unless the caller says otherwise. */
export const DEFAULT_OUTPUT_REPAIRS = 2;

/** A problem is told up to here: it may repeat what the model wrote. */
const MAX_PROBLEM = 2000;

/** How a backend is brought to answer in a form. */
export type OutputPlan = NativePlan | ToolPlan;

interface PlanBase {
  readonly schema: Schema;
  /** Vendors take objects only; any other value stands in the field `value` of one. */
  readonly isWrapped: boolean;
}

/** The vendor is asked for it: `spec` goes into every request, and the text of the last reply is the answer. */
export interface NativePlan extends PlanBase {
  readonly way: "native";
  readonly spec: OutputSpec;
  readonly tool?: undefined;
  readonly why?: undefined;
}

/** A tool is offered beside the others, and the input of its call is the answer. */
export interface ToolPlan extends PlanBase {
  readonly way: "tool";
  readonly tool: ToolSpec;
  readonly spec?: undefined;
  /** Why the vendor cannot be asked. */
  readonly why: string;
}

/**
 * Decides how a backend is asked for answers of a form: by the vendor's own means where it has them for this schema,
 * else by a tool. `hasTools` says whether the agent has tools besides. Made per backend: a fallback needs its own.
 */
export function planOutput(schema: Schema, backend: ModelBackend, hasTools: boolean): OutputPlan {
  const { shown, isWrapped } = showSchema(schema.jsonSchema);
  const native = backend.nativeOutput?.(shown, hasTools) ?? `${backend.name} cannot be asked for a form`;
  if (native === true) return { way: "native", schema, isWrapped, spec: { name: OUTPUT_TOOL_NAME, schema: shown } };
  const tool: ToolSpec = {
    name: OUTPUT_TOOL_NAME,
    description:
      "Give the final answer. Call this exactly once, when everything else is done; its input is the whole answer, and text beside it is not read.",
    inputSchema: shown,
  };
  return { way: "tool", schema, isWrapped, tool, why: native };
}

/** Whether answers of this form stand in the field `value` of an object. */
export function isWrappedOutput(schema: Schema): boolean {
  return showSchema(schema.jsonSchema).isWrapped;
}

/** A schema as vendors and agents are shown it: of an object, and without the name of its dialect. */
export function showSchema(schema: JsonSchema): { readonly shown: JsonSchema; readonly isWrapped: boolean } {
  const { $schema, ...rest } = schema;
  const bare = $schema === undefined ? schema : rest;
  if (bare.type === "object") return { shown: bare, isWrapped: false };
  const isObject = bare.type === undefined && Object.hasOwn(bare, "properties") && !Object.hasOwn(bare, "$ref");
  return isObject
    ? { shown: { type: "object", ...bare }, isWrapped: false }
    : { shown: wrapSchema(bare), isWrapped: true };
}

/**
 * Reads an answer: the text of a reply (native), or the input of the call (tool; a text there is input that was no
 * JSON). Nothing but JSON is taken, save that of a text with one fenced block the block is read. Never rejects.
 */
export async function readOutput(plan: Pick<OutputPlan, "schema" | "isWrapped">, given: unknown): Promise<Parsed> {
  const read: Parsed = typeof given === "string" ? parseAnswer(given) : { fits: true, value: given };
  if (!read.fits) return read;
  const found = plan.isWrapped ? unwrap(read.value) : read;
  if (!found.fits) return found;
  try {
    return await plan.schema.parse(found.value);
  } catch (error) {
    return { fits: false, problem: describeThrown(error) };
  }
}

/** What a model is told whose answer did not fit. For a tool it is the result of the call, else the user's message. */
export function repairMessage(problem: string, way: OutputPlan["way"] = "native"): string {
  const told = problem.length > MAX_PROBLEM ? `${problem.slice(0, MAX_PROBLEM)} …` : problem;
  const what = `Your answer does not fit the schema it has to have: ${told}.`;
  return way === "tool"
    ? `${what} Call ${OUTPUT_TOOL_NAME} again with the whole answer.`
    : `${what} Give the whole answer again, as JSON that fits the schema, and nothing else.`;
}

function parseAnswer(text: string): Parsed {
  const json = text.trim();
  if (json === "") return { fits: false, problem: "it is empty" };
  try {
    return { fits: true, value: JSON.parse(json) };
  } catch (error) {
    const fenced = findFenced(json);
    return fenced === undefined
      ? { fits: false, problem: `it is not JSON (${describeThrown(error)})` }
      : parseAnswer(fenced);
  }
}

const FENCE = "```";

/** What stands in the one fenced block of a text; of two, nobody knows which is meant. */
function findFenced(text: string): string | undefined {
  const lines = text.split("\n");
  const fences = lines.flatMap((line, index) => (line.trimStart().startsWith(FENCE) ? [index] : []));
  const [start = 0, end = 0] = fences;
  if (fences.length === 2 && lines[end]?.trim() === FENCE)
    return lines
      .slice(start + 1, end)
      .join("\n")
      .trim();
  // The fence may end on the last line of the answer.
  const last = lines
    .slice(start + 1)
    .join("\n")
    .trimEnd();
  return fences.length === 1 && last.endsWith(FENCE) ? last.slice(0, -FENCE.length).trim() : undefined;
}

function unwrap(value: unknown): Parsed {
  const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, "value");
  if (!isObject) return { fits: false, problem: 'it has to be an object with the field "value"' };
  return { fits: true, value: (value as { readonly value: unknown }).value };
}
