import type { ModelBackend, OutputSpec, ToolSpec } from "#backends";
import { describeThrown } from "#domain";
import type { JsonSchema, Parsed, Schema } from "#tools";
import { wrapSchema } from "./structured-schema.ts";

/** The tool a model is offered for its answer when the vendor cannot be asked for a form. Calling it ends the leg. */
export const OUTPUT_TOOL_NAME = "final_answer";

/** A model that gave an answer of the wrong form is told so, and asked again, at most this often. */
export const MAX_OUTPUT_REPAIRS = 2;

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

function showSchema(schema: JsonSchema): { readonly shown: JsonSchema; readonly isWrapped: boolean } {
  if (schema.type === "object") return { shown: schema, isWrapped: false };
  const isObject = schema.type === undefined && Object.hasOwn(schema, "properties") && !Object.hasOwn(schema, "$ref");
  return isObject
    ? { shown: { type: "object", ...schema }, isWrapped: false }
    : { shown: wrapSchema(schema), isWrapped: true };
}

/**
 * Reads an answer: the text of a reply (native), or the input of the call (tool; a text there is input that was no
 * JSON). Nothing but JSON is taken, save that one fence round all of it is left out. Never rejects.
 */
export async function readOutput(plan: OutputPlan, given: unknown): Promise<Parsed> {
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
  const json = removeFence(text);
  if (json === "") return { fits: false, problem: "it is empty" };
  try {
    return { fits: true, value: JSON.parse(json) };
  } catch (error) {
    return { fits: false, problem: `it is not JSON (${describeThrown(error)})` };
  }
}

const FENCE = "```";

/** The text without blanks and without one fence round all of it: "```json" on the first line, "```" at the end. */
function removeFence(text: string): string {
  const trimmed = text.trim();
  const firstEnd = trimmed.indexOf("\n");
  if (!trimmed.startsWith(FENCE) || firstEnd === -1 || !trimmed.endsWith(FENCE)) return trimmed;
  const end = trimmed.length - FENCE.length;
  return end <= firstEnd ? trimmed : trimmed.slice(firstEnd, end).trim();
}

function unwrap(value: unknown): Parsed {
  const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, "value");
  if (!isObject) return { fits: false, problem: 'it has to be an object with the field "value"' };
  return { fits: true, value: (value as { readonly value: unknown }).value };
}
