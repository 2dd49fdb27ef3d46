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

/** The providers that have options of their own. */
export const PROVIDER_NAMES = [
  "anthropic",
  "openai",
  "openrouter",
  "deepseek",
  "vllm",
  "modal",
  "google",
] as const satisfies readonly (keyof RunOptions)[];

export type ProviderName = (typeof PROVIDER_NAMES)[number];

export const OPTION_NAMES = [
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
  ...PROVIDER_NAMES,
] as const satisfies readonly (keyof RunOptions)[];

export const LIMIT_NAMES = ["turns", "idleMs", "toolMs"] as const satisfies readonly (keyof Limits)[];

export const PROVIDER_OPTION_NAMES = [
  "apiKey",
  "baseUrl",
  "headers",
] as const satisfies readonly (keyof ProviderOptions)[];
