import type { StopReason, Usage } from "#domain";
import type { TelemetryAttributes } from "./telemetry-api.ts";

/** The attribute names of OpenTelemetry's conventions for generative AI that we set, and our own. */
export const ATTRIBUTE = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  responseModel: "gen_ai.response.model",
  responseId: "gen_ai.response.id",
  finishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  agent: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCallId: "gen_ai.tool.call.id",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  tokenType: "gen_ai.token.type",
  errorType: "error.type",
  runId: "millrace.run.id",
  status: "millrace.run.status",
  subtype: "millrace.run.subtype",
  turns: "millrace.run.turns",
  costUsd: "millrace.run.cost_usd",
  mode: "millrace.mode",
  skipped: "millrace.tool.skipped",
  waited: "millrace.tool.waited_ms",
  permission: "millrace.permission.state",
  permissionBy: "millrace.permission.by",
  routerChoice: "millrace.router.choice",
  routerFeatures: "millrace.router.features",
} as const;

/** The operation of a span; the first word of its name. */
export type Operation = "invoke_agent" | "chat" | "execute_tool";

const USAGE_ATTRIBUTES = {
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
} as const satisfies Record<keyof Usage, string>;

/** Backends whose provider has another name in the conventions. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["google", "gcp.gemini"],
  ["claude-code", "anthropic"],
]);

/** Providers that count cached input separately; the conventions include it. */
const CACHE_APART: ReadonlySet<string> = new Set(["anthropic"]);

/** The name of a backend's provider in the conventions. */
export function providerOf(backend: string): string {
  return PROVIDERS.get(backend) ?? backend;
}

/** Usage as the conventions count it. */
export function conventionalUsage(usage: Usage, provider: string): Usage {
  if (usage.inputTokens === undefined || !CACHE_APART.has(provider)) return usage;
  const inputTokens = usage.inputTokens + (usage.cacheReadTokens ?? 0) + (usage.cacheWriteTokens ?? 0);
  return { ...usage, inputTokens };
}

/** Usage as attributes of a span. Unknown counts are left out. */
export function usageAttributes(usage: Usage): TelemetryAttributes {
  const attributes: TelemetryAttributes = {};
  for (const [field, name] of Object.entries(USAGE_ATTRIBUTES)) {
    const count = usage[field as keyof Usage];
    if (count !== undefined) attributes[name] = count;
  }
  return attributes;
}

const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  "end-turn": "stop",
  "stop-sequence": "stop",
  "tool-use": "tool_call",
  "max-tokens": "length",
  "content-filter": "content_filter",
  refusal: "refusal",
  pause: "pause",
  "malformed-call": "error",
  unknown: "unknown",
};

/** A stop reason as the conventions name it. */
export function finishReason(reason: StopReason): string {
  return FINISH_REASONS[reason];
}
