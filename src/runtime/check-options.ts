import type { TelemetryOptions } from "#sinks";
import { checkClaudeCodeOptions } from "../backends/claude-code/options.ts";
import { checkNames, describeValue, nearestName, StartError } from "#domain";
import { checkGuards, checkHooks, checkPermission, checkRules } from "#policy";
import type { SchemaInput, Tool } from "#tools";
import {
  LIMIT_NAMES,
  OPTION_NAMES,
  PROVIDER_NAMES,
  PROVIDER_OPTION_NAMES,
  REPLAY_SOURCE_NAMES,
  type PolicyOptions,
  type RunOptions,
} from "./options.ts";
import { readOutputOption } from "./output-option.ts";

/**
 * Checks what a caller gave, before anything starts; `without` are options that he cannot give.
 *
 * @throws StartError `invalid-option` naming field, value and remedy.
 */
export function checkOptions(options: RunOptions, without: readonly (keyof RunOptions)[] = []): void {
  checkObject("options", options);
  const known = OPTION_NAMES.filter((name) => !without.includes(name));
  checkNames(options, known, "option ");
  checkText("instructions", options.instructions);
  checkTools(options.tools ?? []);
  checkLimits(options.limits);
  checkCount("toolConcurrency", options.toolConcurrency);
  checkSignal(options.signal);
  checkRetry(options.retry);
  checkFallback(options.fallback);
  checkPolicy(options);
  checkOutput(options.output);
  checkSession(options.session);
  checkModelOptions(options);
  checkPlaceOptions(options);
  for (const name of PROVIDER_NAMES) checkProvider(name, options[name], PROVIDER_OPTION_NAMES);
}

/** What a model is told. */
function checkModelOptions(options: RunOptions): void {
  checkCount("maxTokens", options.maxTokens);
  checkCount("thinkingTokens", options.thinkingTokens);
  checkTemperature(options.temperature);
  checkFlag("parallelToolCalls", options.parallelToolCalls);
  checkToolChoice(options.toolChoice);
}

/** Where a run takes place. */
function checkPlaceOptions(options: RunOptions): void {
  checkFlag("keepRaw", options.keepRaw);
  checkFlag("strict", options.strict);
  checkText("cwd", options.cwd);
  checkText("record", options.record);
  checkReplay(options);
  checkEnv(options.env);
  checkTelemetry(options.telemetry);
  // Also where nobody in the run is Claude Code: a misspelt name is one everywhere.
  checkClaudeCodeOptions(options.claudeCode);
}

const TELEMETRY_NAMES = ["recordContent", "attributes", "tracer", "meter"] satisfies (keyof TelemetryOptions)[];

function checkTelemetry(telemetry: RunOptions["telemetry"]): void {
  if (telemetry === undefined || typeof telemetry === "boolean") return;
  checkObject("telemetry", telemetry);
  checkNames(telemetry, TELEMETRY_NAMES, "telemetry.");
}

function checkReplay({ replay, record }: RunOptions): void {
  if (replay === undefined) return;
  if (record !== undefined) {
    throw invalid(
      "record and replay are both given. A run that is answered from a tape has nothing new to record: leave one out.",
    );
  }
  if (typeof replay === "string") return;
  if (typeof replay !== "object" || replay === null || Array.isArray(replay) || replay instanceof Uint8Array) {
    throw invalid(`replay is ${describeValue(replay)}. Give the path of a tape, or { tape, onDifference }.`);
  }
  checkNames(replay, REPLAY_SOURCE_NAMES, "replay.");
  if (typeof replay.tape !== "string" && !((replay.tape as unknown) instanceof Uint8Array)) {
    throw invalid(`replay.tape is ${describeValue(replay.tape)}. Give the path of a tape, or its bytes.`);
  }
  const { onDifference } = replay;
  if (onDifference !== undefined && onDifference !== "error" && onDifference !== "warn") {
    throw invalid(`replay.onDifference is ${describeValue(onDifference)}. Give "error" or "warn".`);
  }
  checkFlag("replay.allowTorn", replay.allowTorn);
  checkFlag("replay.allowEdited", replay.allowEdited);
}

/** Whether the tool that is to be used is there: it may be the agent's or the run's. */
export function checkChosenTool(toolChoice: RunOptions["toolChoice"], tools: readonly Tool[]): void {
  if (typeof toolChoice !== "object" || tools.some((tool) => tool.name === toolChoice.name)) return;
  const names = tools.map((tool) => tool.name);
  const near = nearestName(toolChoice.name, names);
  const remedy = near === undefined ? `The tools are: ${names.join(", ") || "none"}` : `Did you mean "${near}"?`;
  throw invalid(`toolChoice names the tool "${toolChoice.name}", which is not among tools. ${remedy}`);
}

export function checkText(name: string, value: unknown): void {
  if (value === undefined || typeof value === "string") return;
  throw invalid(`${name} is ${describeValue(value)}. Give a text.`);
}

export function checkLimits(limits: unknown): void {
  if (limits === undefined) return;
  checkObject("limits", limits);
  checkNames(limits, LIMIT_NAMES, "limits.");
  for (const [name, value] of Object.entries(limits)) {
    if (value === undefined || (typeof value === "number" && value > 0)) continue;
    throw invalid(`limits.${name} is ${describeValue(value)}. Give a number above 0.`);
  }
}

export function checkTools(tools: unknown): asserts tools is readonly Tool[] {
  if (!Array.isArray(tools)) {
    throw invalid(`tools is ${describeValue(tools)}, not a list. Give a list of what tool(…) returned.`);
  }
  const seen = new Set<string>();
  tools.forEach((tool: Partial<Tool> | null | undefined, index) => {
    if (typeof tool?.parse !== "function" || typeof tool.run !== "function" || typeof tool.name !== "string") {
      throw invalid(`tools[${index}] is no tool. Make it with tool(name, description, input, run).`);
    }
    if (seen.has(tool.name)) {
      throw invalid(`tools[${index}]: there are two tools called "${tool.name}". Give each its own name.`);
    }
    seen.add(tool.name);
  });
}

/** Checks hooks, permissions and guards, the run's or an agent's. */
export function checkPolicy(given: PolicyOptions): void {
  checkHooks(given.hooks);
  checkPermission(given.permission);
  checkRules(given.permissions);
  // Whether there is a mode for output guards is judged on the agent's and the run's together, where they meet.
  checkGuards(given.guards, given.outputMode ?? "buffer");
}

/** Whether an answer's schema can be read at all. */
export function checkOutput(output: SchemaInput | undefined): void {
  if (output !== undefined) readOutputOption(output);
}

function checkEnv(env: unknown): void {
  if (env === undefined) return;
  checkObject("env", env);
  for (const [name, value] of Object.entries(env)) {
    if (typeof value !== "string") throw invalid(`env.${name} is ${describeValue(value)}. Give a text.`);
  }
}

function checkSession(session: unknown): void {
  if (session === undefined) return;
  checkObject("session", session);
  checkNames(session, ["resume", "continue", "fork", "orReplay"], "session.");
  const { resume, continue: goOn, fork, orReplay } = session as { readonly [name: string]: unknown };
  checkText("session.resume", resume);
  checkFlag("session.continue", goOn);
  checkFlag("session.fork", fork);
  checkFlag("session.orReplay", orReplay);
}

/** Whether a value is a backend: what runs and agents take besides a name. */
export function isBackend(value: unknown): boolean {
  const backend = value as { readonly kind?: unknown; readonly stream?: unknown; readonly open?: unknown } | null;
  if (typeof backend !== "object" || backend === null) return false;
  return (
    (backend.kind === "model" && typeof backend.stream === "function") ||
    (backend.kind === "agent" && typeof backend.open === "function")
  );
}

function checkObject(name: string, value: unknown): asserts value is object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw invalid(`${name} is ${describeValue(value)}. Give an object.`);
}

function checkCount(name: string, value: unknown): void {
  if (value === undefined || (typeof value === "number" && Number.isInteger(value) && value > 0)) return;
  throw invalid(`${name} is ${describeValue(value)}. Give a whole number above 0.`);
}

function checkTemperature(value: unknown): void {
  if (value === undefined || (typeof value === "number" && value >= 0 && value <= 2)) return;
  throw invalid(`temperature is ${describeValue(value)}. Give a number from 0 to 2.`);
}

function checkFlag(name: string, value: unknown): void {
  if (value === undefined || typeof value === "boolean") return;
  throw invalid(`${name} is ${describeValue(value)}. Give true or false.`);
}

function checkToolChoice(choice: unknown): void {
  if (choice === undefined || choice === "auto" || choice === "none" || choice === "required") return;
  if (typeof choice === "object" && choice !== null) checkNames(choice, ["name"], "toolChoice.");
  if (typeof choice === "object" && choice !== null && "name" in choice && typeof choice.name === "string") return;
  throw invalid(`toolChoice is ${describeValue(choice)}. Give "auto", "none", "required" or { name: "<tool>" }.`);
}

function checkSignal(signal: unknown): void {
  if (signal === undefined) return;
  const { aborted, addEventListener } = (signal ?? {}) as Partial<AbortSignal>;
  if (typeof aborted === "boolean" && typeof addEventListener === "function") return;
  throw invalid(`signal is ${describeValue(signal)}. Give the signal of an AbortController.`);
}

function checkRetry(retry: unknown): void {
  if (retry === undefined || retry === false) return;
  checkObject("retry", retry);
  checkNames(retry, ["attempts", "totalMs", "afterFirstToken"], "retry.");
  const { attempts, totalMs, afterFirstToken } = retry as { readonly [name: string]: unknown };
  checkCount("retry.attempts", attempts);
  checkFlag("retry.afterFirstToken", afterFirstToken);
  if (totalMs === undefined || (typeof totalMs === "number" && totalMs >= 0)) return;
  throw invalid(`retry.totalMs is ${describeValue(totalMs)}. Give a number of milliseconds, 0 or more.`);
}

function checkFallback(fallback: unknown): void {
  if (fallback === undefined) return;
  for (const [index, one] of (Array.isArray(fallback) ? fallback : [fallback]).entries()) {
    if (typeof one === "string" || isBackend(one)) continue;
    const name = Array.isArray(fallback) ? `fallback[${index}]` : "fallback";
    throw invalid(`${name} is ${describeValue(one)}. Give a backend such as "offline", or a list of backends.`);
  }
}

/** Checks what a provider was told. `known` are the names it understands. */
export function checkProvider(provider: string, given: unknown, known: readonly string[]): void {
  if (given === undefined) return;
  checkObject(provider, given);
  checkNames(given, known, `option ${provider}.`);
  const { apiKey, baseUrl, headers } = given as { readonly [name: string]: unknown };
  // A key is never shown, not even a wrong one.
  if (apiKey !== undefined && typeof apiKey !== "string") throw invalid(`${provider}.apiKey is no text. Give the key.`);
  checkText(`${provider}.baseUrl`, baseUrl);
  if (headers === undefined) return;
  checkObject(`${provider}.headers`, headers);
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== "string") throw invalid(`${provider}.headers.${name} is no text. Give the header's value.`);
  }
}

function invalid(message: string): StartError {
  return new StartError("invalid-option", message);
}
