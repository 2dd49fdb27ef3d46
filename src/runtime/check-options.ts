import type { TelemetryOptions } from "#sinks";
import { checkClaudeCodeOptions } from "../backends/claude-code/options.ts";
import {
  aboveZero,
  aFlag,
  anObject,
  aSignal,
  aText,
  type Check,
  checkInput,
  describeValue,
  expects,
  giveInstead,
  nearestName,
  oneOf,
  recordOf,
  shape,
  StartError,
  wholeNumber,
  zeroOrMore,
} from "#domain";
import { checkGuards, checkHooks, checkPermission, checkRules } from "#policy";
import type { SchemaInput, Tool } from "#tools";
import {
  LIMIT_NAMES,
  PROVIDER_NAMES,
  type PolicyOptions,
  type ProviderName,
  type ProviderOptions,
  type ReplaySource,
  type RunOptions,
} from "./options.ts";
import { readOutputOption } from "./output-option.ts";

const anything: Check = () => undefined;

const limits = shape(Object.fromEntries(LIMIT_NAMES.map((name) => [name, name === "parkMs" ? zeroOrMore : aboveZero])));

const telemetry = shape({
  recordContent: anything,
  attributes: anything,
  tracer: anything,
  meter: anything,
} satisfies Record<keyof TelemetryOptions, Check>);

const replaySource = shape(
  {
    tape: expects(
      (value) => typeof value === "string" || value instanceof Uint8Array,
      "the path of a tape, or its bytes",
    ),
    onDifference: oneOf(["error", "warn"]),
    allowTorn: aFlag,
    allowEdited: aFlag,
  } satisfies Record<keyof ReplaySource, Check>,
  { required: ["tape"], expected: "the path of a tape, or { tape, onDifference }" },
);

const retry = shape({ attempts: wholeNumber(1), totalMs: zeroOrMore, afterFirstToken: aFlag });

const TOOL_CHOICES = ["auto", "none", "required"];
const toolChoice: Check = (value, field) => {
  if (TOOL_CHOICES.includes(value as string)) return undefined;
  const expected = '"auto", "none", "required" or { name: "<tool>" }';
  if (anObject(value, field) !== undefined) return giveInstead(field, value, expected);
  return shape({ name: expects((name) => typeof name === "string", expected) }, { required: ["name"] })(value, field);
};

const backends = expects(
  (value) => typeof value === "string" || isBackend(value),
  'a backend such as "offline", or a list of backends',
);
const fallback: Check = (value, field) => {
  if (!Array.isArray(value)) return backends(value, field);
  return value.map((one, index) => backends(one, `${field}[${index}]`)).find((fault) => fault !== undefined);
};

/** The options of a provider. A key or a header's value is never shown, not even an invalid one. */
const PROVIDER_CHECKS: Readonly<Record<keyof ProviderOptions, Check>> = {
  apiKey: (value, field) => (typeof value === "string" ? undefined : `${field} is not text. Give the key.`),
  baseUrl: aText,
  headers: recordOf((value, field) =>
    typeof value === "string" ? undefined : `${field} is not text. Give the header's value.`,
  ),
};

const tools: Check = (value, field) => {
  if (!Array.isArray(value)) {
    return `${field} is ${describeValue(value)}, not a list. Give a list of what tool(…) returned.`;
  }
  const seen = new Set<string>();
  for (const [index, one] of (value as (Partial<Tool> | null | undefined)[]).entries()) {
    if (typeof one?.parse !== "function" || typeof one.run !== "function" || typeof one.name !== "string") {
      return `${field}[${index}] is not a tool. Create it with tool(name, description, input, run).`;
    }
    if (seen.has(one.name)) {
      return `${field}[${index}]: there are two tools called "${one.name}". Give each its own name.`;
    }
    seen.add(one.name);
  }
  return undefined;
};

/** Wraps a function that throws a `StartError` itself. */
function asCheck(check: (value: never) => unknown): Check {
  return (value) => void check(value as never);
}

/** Every option of a run with its check; other names are rejected. */
const RUN_CHECKS: Readonly<Record<keyof RunOptions, Check>> = {
  instructions: aText,
  tools,
  limits,
  toolConcurrency: wholeNumber(1),
  signal: aSignal,
  retry: (value, field) => (value === false ? undefined : retry(value, field)),
  fallback,
  // Checked together in `checkPolicy`: what an output guard needs depends on the mode.
  hooks: anything,
  permission: anything,
  permissions: anything,
  guards: anything,
  outputMode: anything,
  output: asCheck(checkOutput),
  session: shape({ resume: aText, continue: aFlag, fork: aFlag, orReplay: aFlag }),
  maxTokens: wholeNumber(1),
  thinkingTokens: wholeNumber(1),
  temperature: expects((value) => typeof value === "number" && value >= 0 && value <= 2, "a number from 0 to 2"),
  parallelToolCalls: aFlag,
  toolChoice,
  keepRaw: aFlag,
  strict: aFlag,
  cwd: aText,
  record: aText,
  replay: (value, field) => (typeof value === "string" ? undefined : replaySource(value, field)),
  env: recordOf(aText),
  telemetry: (value, field) => (typeof value === "boolean" ? undefined : telemetry(value, field)),
  context: anything,
  // Checked even if no backend of the run is Claude Code: a misspelt name is always an error.
  claudeCode: asCheck(checkClaudeCodeOptions),
  ...(Object.fromEntries(PROVIDER_NAMES.map((name) => [name, shape(PROVIDER_CHECKS)])) as Record<ProviderName, Check>),
};

export const OPTION_NAMES: readonly string[] = Object.keys(RUN_CHECKS);

/**
 * Checks the caller's options before anything starts; `without` are options that are not allowed here.
 *
 * @throws StartError `invalid-option` naming field, value and remedy.
 */
export function checkOptions(options: RunOptions, without: readonly (keyof RunOptions)[] = []): void {
  const table = Object.entries(RUN_CHECKS).filter(([name]) => !(without as readonly string[]).includes(name));
  checkInput(shape(Object.fromEntries(table), { what: "option " }), options, "");
  checkPolicy(options);
  if (options.replay === undefined || options.record === undefined) return;
  throw new StartError(
    "invalid-option",
    "record and replay are both given. A run that is answered from a tape has nothing new to record: leave one out.",
  );
}

/** Checks that the tool named by `toolChoice` exists, in the agent's tools or the run's. */
export function checkChosenTool(choice: RunOptions["toolChoice"], given: readonly Tool[]): void {
  if (typeof choice !== "object" || given.some((tool) => tool.name === choice.name)) return;
  const names = given.map((tool) => tool.name);
  const near = nearestName(choice.name, names);
  const remedy = near === undefined ? `The tools are: ${names.join(", ") || "none"}` : `Did you mean "${near}"?`;
  throw new StartError(
    "invalid-option",
    `toolChoice names the tool "${choice.name}", which is not among tools. ${remedy}`,
  );
}

export function checkLimits(given: unknown): void {
  if (given !== undefined) checkInput(limits, given, "limits");
}

export function checkTools(given: unknown): asserts given is readonly Tool[] {
  checkInput(tools, given, "tools");
}

/** Checks the hooks, permissions and guards of a run or an agent. */
export function checkPolicy(given: PolicyOptions): void {
  checkHooks(given.hooks);
  checkPermission(given.permission);
  checkRules(given.permissions);
  // Output guards need an output mode; this is checked where the agent's and the run's settings are merged.
  checkGuards(given.guards, given.outputMode ?? "buffer");
}

/** Checks that the schema of an answer can be read. */
export function checkOutput(output: SchemaInput | undefined): void {
  if (output !== undefined) readOutputOption(output);
}

/** Whether a value is a backend object, which runs and agents accept besides a name. */
export function isBackend(value: unknown): boolean {
  const backend = value as { readonly kind?: unknown; readonly stream?: unknown; readonly open?: unknown } | null;
  if (typeof backend !== "object" || backend === null) return false;
  return (
    (backend.kind === "model" && typeof backend.stream === "function") ||
    (backend.kind === "agent" && typeof backend.open === "function")
  );
}

/** Checks the options of a provider; `besides` are the checks of options that only this kind of backend has. */
export function checkProvider(provider: string, given: unknown, besides: Readonly<Record<string, Check>> = {}): void {
  if (given !== undefined) checkInput(shape({ ...besides, ...PROVIDER_CHECKS }), given, provider);
}
