import type { RetryOptions } from "#agents";
import type { ModelBackend, ToolChoice } from "#backends";
import type { Guard, Hooks, OutputMode, PermissionCallback, PermissionRules } from "#policy";
import type { TelemetryOptions } from "#sinks";
import type { SchemaInput, Tool } from "#tools";
import type { ClaudeCodeOptions } from "../backends/claude-code/options.ts";

/** What a provider may be told apart from its variables. */
export interface ProviderOptions {
  /** The key. Default: the provider's variable. */
  readonly apiKey?: string;
  /** Another address of the same API. */
  readonly baseUrl?: string;
  /** Further headers for every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The limits of a run. Reaching one ends the run with its own subtype and keeps everything produced. */
export interface Limits {
  /** Replies of the model, of one agent. Default 50. */
  readonly turns?: number;
  /** Handoffs between agents. Default 10. */
  readonly handoffs?: number;
  /** What the whole run may cost, in dollars. */
  readonly costUsd?: number;
  /** Input and output tokens of the whole run. */
  readonly tokens?: number;
  /** Time for the whole run. */
  readonly timeoutMs?: number;
  /** Silence of the model that ends the run. Default 300 000. */
  readonly idleMs?: number;
  /** Time for one tool call. Default 120 000. */
  readonly toolMs?: number;
  /**
   * Bytes of one reply: its text, its thinking and the arguments of its tool calls. Default 16 777 216. All replies of
   * a run together may have eight times as many. `Infinity` leaves what the engine can hold in one text.
   */
  readonly replyBytes?: number;
  /**
   * Time for one answer of a permission callback, which then denies. Default 60 000, at least 1 000; `Infinity` for none.
   * A callback marked with `waitForPerson` has none anyway.
   */
  readonly permissionMs?: number;
}

/** What watches a run: hooks, permissions, guards. The same on every backend. */
export interface PolicyOptions {
  /** Functions at named points of the run. */
  readonly hooks?: Hooks;
  /** Decides about tool calls that no rule decides. */
  readonly permission?: PermissionCallback;
  /** Rules by tool name: `{ allow: ["Read"], deny: ["Bash(rm *)"], ask: ["refund"] }`. */
  readonly permissions?: PermissionRules;
  /** Checks on input, tool calls, tool results and output. */
  readonly guards?: readonly Guard[];
  /** How output is held back while output guards look at it. Needed with an output guard. */
  readonly outputMode?: OutputMode;
}

/** Which earlier conversation of an agent backend a run goes on with. */
export interface SessionOptions {
  /** The id of the session to go on with. */
  readonly resume?: string;
  /** Go on with the latest session in this folder. */
  readonly continue?: boolean;
  /** Go on in a copy, and leave the original as it is. */
  readonly fork?: boolean;
  /**
   * With `resume`: when that session is not saved any more, begin another one and tell it the earlier messages of the
   * input, with a `notice` of kind `session-lost`. Without it such a run fails.
   */
  readonly orReplay?: boolean;
}

/** A tape to answer a run from. */
export interface ReplaySource {
  /** The path of the tape, or its bytes. */
  readonly tape: string | Uint8Array;
  /**
   * What becomes of a run that sends something else than was recorded. `"error"` (default): it ends with an error of the
   * code `tape-difference` that says where. `"warn"`: it goes on with the recorded answer, and a `warning` event of that
   * code says where.
   */
  readonly onDifference?: "error" | "warn";
  /** Take a tape that breaks off, up to where it does. */
  readonly allowTorn?: boolean;
  /** Take a tape that was changed by hand. */
  readonly allowEdited?: boolean;
}

/** The options of a run. `Output` is the schema its answer is to fit. */
export interface RunOptions<Output extends SchemaInput | undefined = SchemaInput | undefined> extends PolicyOptions {
  /** What the model is told before everything else: the system prompt. */
  readonly instructions?: string;
  /** Your functions that the model may call. Default: none. */
  readonly tools?: readonly Tool[];
  /** Whether a tool is used: `"auto"` (default), `"none"`, `"required"`, or `{ name }` for a certain one. */
  readonly toolChoice?: ToolChoice;
  /** How many tool calls of one reply may run at the same time. Default 8; 1 runs them one after the other. */
  readonly toolConcurrency?: number;
  /** `false`: the model is asked for one call at a time, and the transcript shows calls and results as pairs. */
  readonly parallelToolCalls?: boolean;
  /**
   * The shape of the answer: `run.output()` then gives a value that fits, or rejects. A schema, or `{ schema, repairs }`
   * to say how often an answer that does not fit is sent back (default 2).
   */
  readonly output?: Output;
  /** What ends the run early: turns, cost, tokens, time. */
  readonly limits?: Limits;
  /** Handed to every tool, hook and guard of this run, and to no other run's. */
  readonly context?: unknown;
  /** Aborts the run when it fires. */
  readonly signal?: AbortSignal;
  /** When the model is asked again. `false`: never. Default: up to 4 attempts, before the first token only. */
  readonly retry?: RetryOptions | false;
  /** Who is asked when the first choice is down. */
  readonly fallback?: string | ModelBackend | readonly (string | ModelBackend)[];
  /** The longest answer, in tokens; thinking comes on top. Default: as long as the model allows. */
  readonly maxTokens?: number;
  /** How much chance there is in the answer. Default: the vendor's. */
  readonly temperature?: number;
  /** Lets the model think first, with at most this many tokens. */
  readonly thinkingTokens?: number;
  /** Agent backends: the conversation to go on with. */
  readonly session?: SessionOptions;
  /** Agent backends: the folder they work in. Default: this process's. */
  readonly cwd?: string;
  /** Agent backends: variables for their process, beside the few that are passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Keeps the frame each event was read from, as `raw`: the exact bytes off the wire, with the secrets in them covered. It
   * takes a multiple of the memory, because no deltas are merged; `limits.replyBytes` bounds it. Default `false`.
   *
   * @example
   * for await (const event of run("claude-code", "hi", { keepRaw: true })) console.log(event.raw?.json);
   */
  readonly keepRaw?: boolean;
  /** Refuse to start when something asked for cannot be had, instead of a warning. */
  readonly strict?: boolean;
  /** Writes a tape of the run into this file; it must not exist yet. */
  readonly record?: string;
  /**
   * Answers from a tape: your code runs (tools, hooks, permissions, guards, schemas), and only what the model's host or
   * process sends comes from the tape. What the run sends is compared with what was sent when it was recorded.
   *
   * @example
   * await run("openai/gpt-5.6-sol", "What is 25 + 17?", { tools: [add], replay: "sum.tape" }).result()
   */
  readonly replay?: string | ReplaySource;
  /** OpenTelemetry spans and metrics, when `@opentelemetry/api` is installed. */
  readonly telemetry?: boolean | TelemetryOptions;
  /** Options of Claude Code alone. */
  readonly claudeCode?: ClaudeCodeOptions;
  /** Key, address and headers for Anthropic. */
  readonly anthropic?: ProviderOptions;
  /** Key, address and headers for OpenAI. */
  readonly openai?: ProviderOptions;
  /** Key, address and headers for OpenRouter. */
  readonly openrouter?: ProviderOptions;
  /** Key, address and headers for DeepSeek. */
  readonly deepseek?: ProviderOptions;
  /** Key, address and headers for vLLM. */
  readonly vllm?: ProviderOptions;
  /** Key, address and headers for Modal. */
  readonly modal?: ProviderOptions;
  /** Key, address and headers for Gemini. */
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

export const LIMIT_NAMES = [
  "turns",
  "handoffs",
  "costUsd",
  "tokens",
  "timeoutMs",
  "idleMs",
  "toolMs",
  "replyBytes",
  "permissionMs",
] as const satisfies readonly (keyof Limits)[];

export const PROVIDER_OPTION_NAMES = [
  "apiKey",
  "baseUrl",
  "headers",
] as const satisfies readonly (keyof ProviderOptions)[];
