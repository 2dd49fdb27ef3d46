import {
  aboveZero,
  aFlag,
  aFunction,
  anObject,
  checkInput,
  checkOptionNames,
  expects,
  type NextTurn,
  StartError,
} from "#domain";
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

/** The key under which a tool finds its run. Private to Millrace: its value is not part of any contract. */
export const OUTER_RUN: unique symbol = Symbol("millrace.outerRun") as never;

/** Information about the call that a tool answers. Everything a tool needs is passed explicitly. */
export interface ToolContext<Context = unknown> {
  readonly callId: string;
  readonly name: string;
  readonly runId: string;
  /** The agent that made the call. */
  readonly agent: string | undefined;
  /**
   * The same for every attempt at this call, also in another process after a crash, and different for every other call.
   * Pass it to a service that ignores repeated requests.
   */
  readonly idempotencyKey: string;
  /** Fires when the run is aborted or the tool's time limit is reached. */
  readonly signal: AbortSignal;
  /** The value of the run's `context` option. It is never shared between runs. */
  readonly context: Context;
  /** Reports progress to readers: a `notice` of kind `tool-progress`. */
  progress(state: unknown): void;
  /**
   * Reports something the tool has created: a `notice` of kind `artifact`, `artifact_created` in the vocabularies
   * `chat` and `runner`. It is not shown to the model. Throws if it is not an object, or too large to be sent to every
   * reader.
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
   * Reports the documents that an answer is based on: a `notice` of kind `documents`, and part of `documents_used` in
   * the vocabularies `chat` and `runner`. It is not shown to the model.
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
  /** The schema shown to models. */
  readonly inputSchema: JsonSchema;
  /** The tool's own time limit; if absent, the run's `limits.toolMs` applies. */
  readonly timeoutMs: number | undefined;
  /** It runs alone: no other call of its agent runs at the same time. Default `false`. */
  readonly sequential?: boolean | undefined;
  /** A call whose process ended while it ran is run again. Default `false`: it may have had its effect. */
  readonly idempotent?: boolean | undefined;
  /** It changes nothing, so an agent with its own loop may make several calls at the same time. Default `false`. */
  readonly readOnly?: boolean | undefined;
  /** Checks the arguments that a model wrote. Never rejects. */
  parse(input: unknown, nextTurn?: NextTurn): Promise<Parsed>;
  run(input: never, context: ToolContext<never>): unknown;
}

/** Further options of a tool. */
export interface ToolOptions {
  /** The tool's own time limit. Default: `limits.toolMs` of the run. */
  readonly timeoutMs?: number;
  /**
   * `true`: calls of this tool run alone, one after the other in the order of the model's calls, and no other call of
   * the agent runs at the same time. For tools that change what others read. Default `false`.
   */
  readonly sequential?: boolean;
  /**
   * `true`: running a call twice has the same effect as running it once, for example because the tool passes
   * `context.idempotencyKey` on. If the process of a stored run ends during such a call, `resumeRun` runs the call
   * again; a call of another tool is answered as incomplete. Default `false`.
   */
  readonly idempotent?: boolean;
  /**
   * `true`: the tool changes nothing. Claude Code runs calls of such tools at the same time, and calls of other tools
   * one after the other. Whether a call is allowed does not depend on it. Default `false`.
   */
  readonly readOnly?: boolean;
}

/** The value that a schema describes, for the tool's function. */
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

const OPTION_NAMES = [
  "timeoutMs",
  "sequential",
  "idempotent",
  "readOnly",
] as const satisfies readonly (keyof ToolOptions)[];
const FIELD_NAMES = ["name", "description", "input", "run", ...OPTION_NAMES] as const;

const aName = expects(
  (value) => typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(value),
  "1 to 64 letters, digits, _ or -, starting with a letter or _",
);
const aDescription = expects(
  (value) => typeof value === "string" && value.trim() !== "",
  "a sentence that says what the tool does; the model uses it to choose",
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
  checkInput(anObject, given, "tool");
  const {
    name,
    description,
    input,
    run,
    timeoutMs,
    sequential = false,
    idempotent = false,
    readOnly = false,
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
  checkInput(aFlag, idempotent, `${field}idempotent`);
  checkInput(aFlag, readOnly, `${field}readOnly`);
  const schema = readSchema(input as SchemaInput, `tool "${name}": input`);
  const { type } = schema.jsonSchema;
  if (type !== undefined && type !== "object") {
    throw new StartError(
      "invalid-option",
      `${field}input is of type ${JSON.stringify(type)}. Give an object of fields: that is what models give a tool.`,
    );
  }
  const { jsonSchema: inputSchema, parse } = schema;
  return { name, description, inputSchema, timeoutMs, sequential, idempotent, readOnly, parse, run };
}
