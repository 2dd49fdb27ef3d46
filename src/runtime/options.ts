import type { RetryOptions } from "#agents";
import type { ModelBackend, ToolChoice } from "#backends";
import type { Guard, Hooks, OutputMode, PermissionCallback, PermissionRules } from "#policy";
import type { TelemetryOptions } from "#sinks";
import type { SchemaInput, Tool } from "#tools";
import type { ClaudeCodeOptions } from "../backends/claude-code/options.ts";

/** Options of a provider that override its variables. */
export interface ProviderOptions {
  /** The API key. Default: the provider's variable. */
  readonly apiKey?: string;
  /** Another address of the same API. */
  readonly baseUrl?: string;
  /** Additional headers for every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The limits of a run. Reaching one ends the run with its own subtype and keeps everything produced so far. */
export interface Limits {
  /** Replies of the model, per agent. Default 50. */
  readonly turns?: number;
  /** Handoffs between agents. Default 10. */
  readonly handoffs?: number;
  /** The cost of the whole run, in dollars. */
  readonly costUsd?: number;
  /** Input and output tokens of the whole run. */
  readonly tokens?: number;
  /** Milliseconds for the whole run. */
  readonly timeoutMs?: number;
  /** Milliseconds without any output from the model, after which the run ends. Default 300 000. */
  readonly idleMs?: number;
  /** Milliseconds for one tool call. Default 120 000. */
  readonly toolMs?: number;
  /**
   * Bytes of one reply: its text, its thinking and the arguments of its tool calls. Default 16 777 216. All replies of
   * a run together may have eight times as many. With `Infinity`, only the engine's maximum string length applies.
   */
  readonly replyBytes?: number;
  /**
   * Milliseconds for one answer of a permission callback; then the call is denied. Default 60 000, at least 1 000;
   * `Infinity` for no limit. A callback marked with `waitForPerson` has no limit anyway.
   */
  readonly permissionMs?: number;
  /**
   * Milliseconds for which a run in a store holds its process while all of its calls wait for something outside: the
   * answer of a person, a result, a time. Then it is parked. Default 60 000; `Infinity` for never.
   */
  readonly parkMs?: number;
}

/** The policy of a run: hooks, permissions, guards. It works the same on every backend. */
export interface PolicyOptions {
  /** Functions at named points of the run. */
  readonly hooks?: Hooks;
  /** Decides about tool calls that no rule decides. */
  readonly permission?: PermissionCallback;
  /** Rules by tool name: `{ allow: ["Read"], deny: ["Bash(rm *)"], ask: ["refund"] }`. */
  readonly permissions?: PermissionRules;
  /** Checks of input, tool calls, tool results and output. */
  readonly guards?: readonly Guard[];
  /** How output is held back while output guards check it. Required with an output guard. */
  readonly outputMode?: OutputMode;
}

/** The earlier session of an agent backend that a run continues. */
export interface SessionOptions {
  /** The id of the session to continue. */
  readonly resume?: string;
  /** Continue the latest session in this folder. */
  readonly continue?: boolean;
  /** Continue in a copy and leave the original unchanged. */
  readonly fork?: boolean;
  /**
   * With `resume`: if that session is no longer saved, start a new one with the earlier messages of the input, and
   * report this with a `notice` of kind `session-lost`. Without it, such a run fails.
   */
  readonly orReplay?: boolean;
}

/** A tape to answer a run from. */
export interface ReplaySource {
  /** The path of the tape, or its bytes. */
  readonly tape: string | Uint8Array;
  /**
   * What happens when a run sends something other than what was recorded. `"error"` (default): it ends with an error of
   * code `tape-difference` that names the place. `"warn"`: it goes on with the recorded answer, and a `warning` event
   * of that code names the place.
   */
  readonly onDifference?: "error" | "warn";
  /** Accept a tape that breaks off, up to that point. */
  readonly allowTorn?: boolean;
  /** Accept a tape that was edited by hand. */
  readonly allowEdited?: boolean;
}

/** The options of a run. `Output` is the schema of its answer. */
export interface RunOptions<Output extends SchemaInput | undefined = SchemaInput | undefined> extends PolicyOptions {
  /** The system prompt. */
  readonly instructions?: string;
  /** Your functions that the model may call. Default: none. */
  readonly tools?: readonly Tool[];
  /** Whether the model uses a tool: `"auto"` (default), `"none"`, `"required"`, or `{ name }` for a specific one. */
  readonly toolChoice?: ToolChoice;
  /** How many tool calls of one reply may run at the same time. Default 8; with 1 they run one after the other. */
  readonly toolConcurrency?: number;
  /** `false`: the model is asked for one call at a time, and the transcript shows calls and results in pairs. */
  readonly parallelToolCalls?: boolean;
  /**
   * The shape of the answer: `run.output()` then resolves to a value that matches it, or rejects. A schema, or `{
   * schema, repairs }` to set how often the model is asked again when its answer does not match (default 2).
   */
  readonly output?: Output;
  /** What ends the run early: turns, cost, tokens, time. */
  readonly limits?: Limits;
  /** A value that is passed to every tool, hook and guard of this run, and of no other run. */
  readonly context?: unknown;
  /** Aborts the run when it fires. */
  readonly signal?: AbortSignal;
  /** When the model is asked again. `false`: never. Default: up to 4 attempts, before the first token only. */
  readonly retry?: RetryOptions | false;
  /** The backends to use when the first one is unavailable. */
  readonly fallback?: string | ModelBackend | readonly (string | ModelBackend)[];
  /** The maximum length of an answer, in tokens, not counting thinking. Default: the model's maximum. */
  readonly maxTokens?: number;
  /** The randomness of the answer. Default: the vendor's. */
  readonly temperature?: number;
  /** Lets the model think first, with at most this many tokens. */
  readonly thinkingTokens?: number;
  /** Agent backends: the session to continue. */
  readonly session?: SessionOptions;
  /** Agent backends: the working folder. Default: that of this process. */
  readonly cwd?: string;
  /** Agent backends: variables for their process, in addition to the few that are passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Keeps the frame of each event as `raw`: the exact bytes from the wire, with secrets masked. This takes several
   * times the memory, because deltas are not merged; `limits.replyBytes` bounds it. Default `false`.
   *
   * @example
   * for await (const event of run("claude-code", "hi", { keepRaw: true })) console.log(event.raw?.json);
   */
  readonly keepRaw?: boolean;
  /** Refuse to start when an option cannot take effect, instead of warning. */
  readonly strict?: boolean;
  /** Writes a tape of the run into this file, which must not exist yet. */
  readonly record?: string;
  /**
   * Answers from a tape: your code runs (tools, hooks, permissions, guards, schemas), and only the output of the
   * model's host or process comes from the tape. What the run sends is compared with what was recorded.
   *
   * @example
   * await run("openai/gpt-5.6-sol", "What is 25 + 17?", { tools: [add], replay: "sum.tape" }).result()
   */
  readonly replay?: string | ReplaySource;
  /** OpenTelemetry spans and metrics, if `@opentelemetry/api` is installed. */
  readonly telemetry?: boolean | TelemetryOptions;
  /** Options that only apply to Claude Code. */
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

/** The providers that have their own options. */
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
  "parkMs",
] as const satisfies readonly (keyof Limits)[];

export const PROVIDER_OPTION_NAMES = [
  "apiKey",
  "baseUrl",
  "headers",
] as const satisfies readonly (keyof ProviderOptions)[];
