import type { RetryOptions } from "#agents";
import type { ModelBackend, ToolChoice } from "#backends";
import type { Guard, Hooks, OutputMode, PermissionCallback, PermissionRules } from "#policy";
import type { TelemetryOptions } from "#sinks";
import type { SchemaInput, Tool } from "#tools";
import type { ClaudeCodeOptions } from "../backends/claude-code/options.ts";

/** What a provider may be told apart from its variables. */
export interface ProviderOptions {
  readonly apiKey?: string;
  readonly baseUrl?: string;
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
  /** Its session id. */
  readonly resume?: string;
  /** The latest one in this folder. */
  readonly continue?: boolean;
  /** Go on in a copy, and leave the original as it is. */
  readonly fork?: boolean;
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
  readonly instructions?: string;
  readonly tools?: readonly Tool[];
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
  readonly limits?: Limits;
  /** Handed to every tool, hook and guard of this run, and to no other run's. */
  readonly context?: unknown;
  readonly signal?: AbortSignal;
  /** When the model is asked again. `false`: never. Default: up to 4 attempts, before the first token only. */
  readonly retry?: RetryOptions | false;
  /** Who is asked when the first choice is down. */
  readonly fallback?: string | ModelBackend | readonly (string | ModelBackend)[];
  /** The longest answer, in tokens; thinking comes on top. Default: as long as the model allows. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** Lets the model think first, with at most this many tokens. */
  readonly thinkingTokens?: number;
  /** Agent backends: the conversation to go on with. */
  readonly session?: SessionOptions;
  /** Agent backends: the folder they work in. Default: this process's. */
  readonly cwd?: string;
  /** Agent backends: variables for their process, beside the few that are passed on. */
  readonly env?: Readonly<Record<string, string>>;
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
  readonly claudeCode?: ClaudeCodeOptions;
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
  "output",
  "hooks",
  "permission",
  "permissions",
  "guards",
  "outputMode",
  "limits",
  "context",
  "signal",
  "retry",
  "fallback",
  "maxTokens",
  "temperature",
  "thinkingTokens",
  "session",
  "cwd",
  "env",
  "strict",
  "record",
  "replay",
  "telemetry",
  "claudeCode",
  ...PROVIDER_NAMES,
] as const satisfies readonly (keyof RunOptions)[];

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

export const REPLAY_SOURCE_NAMES = [
  "tape",
  "onDifference",
  "allowTorn",
  "allowEdited",
] as const satisfies readonly (keyof ReplaySource)[];

export const PROVIDER_OPTION_NAMES = [
  "apiKey",
  "baseUrl",
  "headers",
] as const satisfies readonly (keyof ProviderOptions)[];
