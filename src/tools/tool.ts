import { aboveZero, aFlag, aFunction, checkInput, checkOptionNames, expects, StartError } from "#domain";
import type { JsonSchema } from "./json-schema.ts";
import {
  type CheckedSchema,
  type Parsed,
  readSchema,
  type SchemaInput,
  type ShownSchema,
  type StandardSchema,
} from "./schema.ts";
import type { Artifact } from "./tool-report.ts";
import type { IsSimpleSchema, Shorthand, ShorthandValue, SimpleValue } from "./shorthand.ts";

/** Where a tool finds the run it is called in. Nobody's but ours: what is behind it is no contract. */
export const OUTER_RUN: unique symbol = Symbol("millrace.outerRun") as never;

/** What a tool is told about the call it answers. Explicit: nothing a tool needs is ambient. */
export interface ToolContext<Context = unknown> {
  readonly callId: string;
  readonly name: string;
  readonly runId: string;
  /** The agent that called. */
  readonly agent: string | undefined;
  /** Fires when the run is aborted or the tool's time is up. */
  readonly signal: AbortSignal;
  /** The caller's own value, from the `context` option of the run. Runs never see each other's. */
  readonly context: Context;
  /** Tells readers how far the work is: a `notice` of kind `tool-progress`. */
  progress(state: unknown): void;
  /**
   * Reports something the tool has made: a `notice` of kind `artifact`, `artifact_created` in the vocabularies `chat` and
   * `runner`. The model is not told. Throws when it is no object, or too large to be sent to every reader.
   *
   * @example
   * const draw = tool("draw", "Draw a chart", { title: "string" }, async ({ title }, { artifact }) => {
   *   const url = await saveChart(title)
   *   artifact({ name: title, type: "image/svg+xml", url })
   *   return `The chart is at ${url}.`
   * })
   */
  artifact(artifact: Artifact): void;
  /**
   * Reports documents the answer rests on: a `notice` of kind `documents`, and part of `documents_used` in the vocabularies
   * `chat` and `runner`. The model is not told.
   *
   * @example
   * const search = tool("search", "Search the handbook", { words: "string" }, async ({ words }, { documents }) => {
   *   const found = await searchHandbook(words)
   *   documents(found.map(({ id, title }) => ({ id, title })))
   *   return found.map(({ text }) => text).join("\n")
   * })
   */
  documents(documents: readonly unknown[]): void;
  /** @internal */
  readonly [OUTER_RUN]?: unknown;
}

/** A tool: a name, a schema, a function. Data; the same tool serves any number of runs at once. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** What models are shown. */
  readonly inputSchema: JsonSchema;
  /** The tool's own deadline; without it the run's `limits.toolMs` holds. */
  readonly timeoutMs: number | undefined;
  /** It runs alone: no other call of its agent runs beside it. Default `false`. */
  readonly sequential?: boolean | undefined;
  /** Checks the arguments a model wrote. Never rejects. */
  parse(input: unknown): Promise<Parsed>;
  run(input: never, context: ToolContext<never>): unknown;
}

/** What may be said of a tool beside its name, description, schema and function. */
export interface ToolOptions {
  /** The tool's own deadline. Default: `limits.toolMs` of the run. */
  readonly timeoutMs?: number;
  /**
   * `true`: calls of this tool run alone, one after the other in the order the model made them, and no other call of
   * the agent runs beside them. For tools that change what others read. Default `false`.
   */
  readonly sequential?: boolean;
}

/** The value a schema describes, for the tool's function. */
export type InputOf<Schema> =
  Schema extends StandardSchema<infer _Input, infer Output>
    ? Output
    : Schema extends ShownSchema<infer _Shown, infer Value>
      ? Value
      : Schema extends { readonly type: "object" }
        ? Record<string, unknown>
        : IsSimpleSchema<Schema> extends true
          ? SimpleValue<Schema>
          : Schema extends Shorthand
            ? ShorthandValue<Schema>
            : unknown;

/** A tool as one object, for the form of `tool` that takes one. */
export interface ToolDefinition<Schema extends SchemaInput> extends ToolOptions {
  readonly name: string;
  readonly description: string;
  readonly input: Schema & CheckedSchema<Schema>;
  readonly run: (input: InputOf<Schema>, context: ToolContext) => unknown;
}

const OPTION_NAMES = ["timeoutMs", "sequential"] as const satisfies readonly (keyof ToolOptions)[];
const FIELD_NAMES = ["name", "description", "input", "run", ...OPTION_NAMES] as const;

const aName = expects(
  (value) => typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(value),
  "1 to 64 letters, digits, _ or -, starting with a letter or _",
);
const aDescription = expects(
  (value) => typeof value === "string" && value.trim() !== "",
  "a sentence that says what the tool does; the model chooses by it",
);

/**
 * Defines a tool. `input` is the short notation, any Standard Schema, or a JSON Schema; `run` may be async and may
 * return text, any JSON value, or content blocks. Throw `ToolFailure` to tell the model what to do instead.
 *
 * @example
 * const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b)
 */
export function tool<const Schema extends SchemaInput>(
  name: string,
  description: string,
  input: Schema & CheckedSchema<Schema>,
  run: (input: InputOf<Schema>, context: ToolContext) => unknown,
  options?: ToolOptions,
): Tool;
export function tool<const Schema extends SchemaInput>(definition: ToolDefinition<Schema>): Tool;
export function tool(
  first: string | ToolDefinition<SchemaInput>,
  description?: string,
  input?: SchemaInput,
  run?: (input: never, context: ToolContext) => unknown,
  options: ToolOptions = {},
): Tool {
  const definition =
    typeof first === "string"
      ? { name: first, description, input, run, ...options }
      : (first as Partial<ToolDefinition<SchemaInput>>);
  return checkTool(definition as Partial<Omit<ToolDefinition<SchemaInput>, "run">> & { run?: Tool["run"] });
}

function checkTool(given: Partial<Omit<ToolDefinition<SchemaInput>, "run">> & { run?: Tool["run"] }): Tool {
  const {
    name,
    description,
    input,
    run,
    timeoutMs,
    sequential = false,
  } = given as ToolDefinition<SchemaInput> & {
    run: Tool["run"];
  };
  checkInput(aName, name, "tool: name");
  const field = `tool "${name as string}": `;
  checkInput(aDescription, description, `${field}description`);
  checkInput(aFunction, run, `${field}run`);
  if (timeoutMs !== undefined) checkInput(aboveZero, timeoutMs, `${field}timeoutMs`);
  checkOptionNames(given, FIELD_NAMES, `the tool "${name as string}"`);
  checkInput(aFlag, sequential, `${field}sequential`);
  const schema = readSchema(input as SchemaInput, `tool "${name}": input`);
  const { type } = schema.jsonSchema;
  if (type !== undefined && type !== "object") {
    throw new StartError(
      "invalid-option",
      `${field}input is of type ${JSON.stringify(type)}. Give an object of fields: that is what models give a tool.`,
    );
  }
  return { name, description, inputSchema: schema.jsonSchema, timeoutMs, sequential, parse: schema.parse, run };
}
