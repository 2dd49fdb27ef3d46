import type { ModelBackend, OutputSpec, ToolSpec } from "#backends";
import { describeThrown, LONG_JSON, type NextTurn, type ParsedJson, readLongJson } from "#domain";
import { OUTPUT_TOOL_NAME } from "#run";
import { type JsonSchema, type Parsed, type Schema, moveReferences } from "#tools";

/**
 * How many times a model is asked to correct an answer that does not fit the schema, unless the caller sets another
 * number.
 */
export const DEFAULT_OUTPUT_REPAIRS = 2;

/** Maximum length of a problem in a message to the model, because it may repeat what the model wrote. */
const MAX_PROBLEM = 2000;

/** How a backend is made to give structured output. */
export type OutputPlan = NativePlan | ToolPlan;

interface PlanBase {
  readonly schema: Schema;
  /** Whether the value is in the field `value` of an object. Vendors accept only objects. */
  readonly isWrapped: boolean;
}

/** Native output: `spec` is part of every request, and the text of the last reply is the answer. */
export interface NativePlan extends PlanBase {
  readonly way: "native";
  readonly spec: OutputSpec;
  readonly tool?: undefined;
  readonly why?: undefined;
}

/** A tool is offered in addition to the others, and the input of its call is the answer. */
export interface ToolPlan extends PlanBase {
  readonly way: "tool";
  readonly tool: ToolSpec;
  readonly spec?: undefined;
  /** Why native output is not possible. */
  readonly why: string;
}

/**
 * Decides how a backend gives structured output: natively if the vendor supports this schema, otherwise by a tool.
 * `hasTools` says whether the agent has other tools. Call it for each backend, because a fallback may need another
 * plan.
 */
export function planOutput(schema: Schema, backend: ModelBackend, hasTools: boolean): OutputPlan {
  const { shown, isWrapped } = showSchema(schema.jsonSchema);
  const native = backend.nativeOutput?.(shown, hasTools) ?? `${backend.name} does not support structured output`;
  if (native === true) return { way: "native", schema, isWrapped, spec: { name: OUTPUT_TOOL_NAME, schema: shown } };
  const tool: ToolSpec = {
    name: OUTPUT_TOOL_NAME,
    description:
      "Give the final answer. Call this exactly once, when everything else is done; its input is the whole answer, and text beside it is not read.",
    inputSchema: shown,
  };
  return { way: "tool", schema, isWrapped, tool, why: native };
}

/** Whether answers for this schema are in the field `value` of an object. */
export function isWrappedOutput(schema: Schema): boolean {
  return showSchema(schema.jsonSchema).isWrapped;
}

/** Returns a schema in the form that vendors and agents accept: the schema of an object, without `$schema`. */
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
 * Reads an answer: the text of a reply (native), or the input of the call (tool). A string as the input of a call means
 * that the arguments were not JSON. Only JSON is accepted, except that a text with exactly one fenced code block is
 * read from that block. Never rejects. A long answer is parsed and validated in several turns of the event loop.
 */
export async function readOutput(
  plan: Pick<OutputPlan, "schema" | "isWrapped">,
  given: unknown,
  nextTurn?: NextTurn,
): Promise<Parsed> {
  const read: Parsed = typeof given === "string" ? await parseAnswer(given, nextTurn) : { fits: true, value: given };
  if (!read.fits) return read;
  const found = plan.isWrapped ? unwrap(read.value) : read;
  if (!found.fits) return found;
  try {
    return await plan.schema.parse(found.value, nextTurn);
  } catch (error) {
    return { fits: false, problem: describeThrown(error) };
  }
}

/**
 * Returns the message to a model whose answer did not fit. With a tool it is the result of the call, otherwise a user
 * message.
 */
export function repairMessage(problem: string, way: OutputPlan["way"] = "native"): string {
  const shown = problem.length > MAX_PROBLEM ? `${problem.slice(0, MAX_PROBLEM)} …` : problem;
  const what = `Your answer does not fit the schema it has to have: ${shown}.`;
  return way === "tool"
    ? `${what} Call ${OUTPUT_TOOL_NAME} again with the whole answer.`
    : `${what} Give the whole answer again, as JSON that fits the schema, and nothing else.`;
}

async function parseAnswer(text: string, nextTurn: NextTurn | undefined): Promise<Parsed> {
  const json = text.trim();
  if (json === "") return { fits: false, problem: "it is empty" };
  const { value, fault } = json.length > LONG_JSON ? await readLongJson(json, nextTurn) : parseShort(json);
  if (fault === undefined) return { fits: true, value };
  const fenced = findFenced(json);
  return fenced === undefined ? { fits: false, problem: `it is not JSON (${fault})` } : parseAnswer(fenced, nextTurn);
}

function parseShort(json: string): ParsedJson {
  try {
    return { value: JSON.parse(json) };
  } catch (error) {
    return { fault: describeThrown(error) };
  }
}

const FENCE = "```";

/** Returns the content of the only fenced block of a text. With two blocks it is unclear which one is meant. */
function findFenced(text: string): string | undefined {
  const [first, second, third] = findFences(text);
  if (first === undefined || third !== undefined) return undefined;
  const start = text.indexOf("\n", first) + 1;
  if (start === 0) return undefined;
  // The closing fence must be alone on its line, or at the end of the answer.
  if (second === undefined) return text.endsWith(FENCE) ? text.slice(start, -FENCE.length).trim() : undefined;
  const end = text.indexOf("\n", second);
  const isAlone = text.slice(second, end === -1 ? text.length : end).trim() === FENCE;
  return isAlone ? text.slice(start, second).trim() : undefined;
}

/** A fence that begins a line, with the blanks before it. */
const FENCE_LINE = /(?:^|\n)[^\S\n]*```/g;

/** Returns the positions of the first three fences that begin a line. Each character of a long text is read once. */
function findFences(text: string): readonly number[] {
  const fences: number[] = [];
  for (const { 0: found, index } of text.matchAll(FENCE_LINE)) {
    if (fences.push(index + found.length - FENCE.length) === 3) break;
  }
  return fences;
}

function unwrap(value: unknown): Parsed {
  const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, "value");
  if (!isObject) return { fits: false, problem: 'it must be an object with the field "value"' };
  return { fits: true, value: (value as { readonly value: unknown }).value };
}

/**
 * Returns the schema of an object that holds the value in its field `value`. Definitions move to the top level, where
 * vendors look for them; references to the schema itself are adjusted to its new position.
 */
function wrapSchema(schema: JsonSchema): JsonSchema {
  const { $schema: _, $defs, definitions, ...rest } = schema;
  return {
    type: "object",
    properties: { value: moveReferences(rest, movePointer) },
    required: ["value"],
    additionalProperties: false,
    ...($defs !== undefined && { $defs: moveReferences($defs, movePointer) }),
    ...(definitions !== undefined && { definitions: moveReferences(definitions, movePointer) }),
  };
}

function movePointer(pointer: string): string {
  return /^\/(\$defs|definitions)\//.test(pointer) ? pointer : `/properties/value${pointer}`;
}
