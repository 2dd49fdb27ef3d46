import { nearestName, StartError } from "#domain";
import type { RetryOptions } from "#agents";
import type { Backend, ToolChoice } from "#backends";
import type { Tool } from "#tools";

/** What a provider may be told apart from its variables. */
export interface ProviderOptions {
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The limits of a run. Reaching one ends the run with its own subtype and keeps everything produced. */
export interface Limits {
  /** Replies of the model. Default 50. */
  readonly turns?: number;
  /** Silence of the model that ends the run. Default 300 000. */
  readonly idleMs?: number;
  /** Time for one tool call. Default 120 000. */
  readonly toolMs?: number;
}

/** The options of a run. */
export interface RunOptions {
  readonly instructions?: string;
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  /** How many tool calls of one turn may run at the same time. Default 1. */
  readonly toolConcurrency?: number;
  /** `false`: the model is asked for one call at a time, and the transcript shows calls and results as pairs. */
  readonly parallelToolCalls?: boolean;
  readonly limits?: Limits;
  /** Handed to every tool of this run, and to no other run's. */
  readonly context?: unknown;
  readonly signal?: AbortSignal;
  /** When the model is asked again. `false`: never. Default: up to 4 attempts, before the first token only. */
  readonly retry?: RetryOptions | false;
  /** Who is asked when the first choice is down. */
  readonly fallback?: string | Backend | readonly (string | Backend)[];
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** Lets the model think first, with at most this many tokens. */
  readonly thinkingTokens?: number;
  readonly anthropic?: ProviderOptions;
  readonly openai?: ProviderOptions;
  readonly openrouter?: ProviderOptions;
  readonly deepseek?: ProviderOptions;
  readonly vllm?: ProviderOptions;
  readonly modal?: ProviderOptions;
  readonly google?: ProviderOptions;
}

const OPTION_NAMES = [
  "instructions",
  "tools",
  "toolChoice",
  "toolConcurrency",
  "parallelToolCalls",
  "limits",
  "context",
  "signal",
  "retry",
  "fallback",
  "maxTokens",
  "temperature",
  "thinkingTokens",
  "anthropic",
  "openai",
  "openrouter",
  "deepseek",
  "vllm",
  "modal",
  "google",
] as const satisfies readonly (keyof RunOptions)[];

const LIMIT_NAMES = ["turns", "idleMs", "toolMs"] as const satisfies readonly (keyof Limits)[];

/** Checks what a caller gave, before anything starts. @throws StartError `invalid-option` naming field, value and remedy. */
export function checkOptions(options: RunOptions): void {
  checkNames(options, OPTION_NAMES, "option");
  checkNames(options.limits ?? {}, LIMIT_NAMES, "limits.");
  for (const [name, value] of Object.entries(options.limits ?? {})) checkPositive(`limits.${name}`, value);
  checkPositive("toolConcurrency", options.toolConcurrency);
  checkPositive("maxTokens", options.maxTokens);
  checkPositive("thinkingTokens", options.thinkingTokens);
  checkTools(options.tools ?? []);
}

function checkNames(given: object, known: readonly string[], what: string): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const near = nearestName(name, known);
    const remedy = near === undefined ? `Known are: ${known.join(", ")}.` : `Did you mean ${near}?`;
    throw new StartError("invalid-option", `There is no ${what}${what.endsWith(".") ? "" : " "}${name}. ${remedy}`);
  }
}

function checkPositive(name: string, value: unknown): void {
  if (value === undefined || (typeof value === "number" && value > 0)) return;
  throw new StartError("invalid-option", `${name} is ${JSON.stringify(value)}. Give a number above 0.`);
}

function checkTools(tools: readonly Tool[]): void {
  if (!Array.isArray(tools))
    throw new StartError("invalid-option", "tools is not a list. Give a list of what tool(…) returned.");
  const seen = new Set<string>();
  tools.forEach((tool: Tool, index) => {
    if (typeof tool?.parse !== "function" || typeof tool.name !== "string") {
      throw new StartError(
        "invalid-option",
        `tools[${index}] is no tool. Make it with tool(name, description, input, run).`,
      );
    }
    if (seen.has(tool.name)) {
      throw new StartError(
        "invalid-option",
        `tools[${index}]: there are two tools called "${tool.name}". Give each its own name.`,
      );
    }
    seen.add(tool.name);
  });
}
