import type { Usage } from "#domain";
import { type Ids, signThought } from "./ids.ts";
import type { ModelPrompt, ProtocolName } from "./prompt.ts";
import type { FinishedCall, FinishedReply, FinishedUsage, Reply, ReplyCall } from "./reply.ts";
import { splitWords } from "./text-pieces.ts";
import { estimatePrefix, estimatePrompt, estimateTokens } from "./tokens.ts";

export interface Finishing {
  readonly prompt: ModelPrompt;
  readonly ids: Ids;
  readonly nowMs: number;
  /** A fault: every call gets the id of the first. */
  readonly duplicateIds: boolean;
}

const CALL_PREFIX: Readonly<Record<ProtocolName, string>> = {
  anthropic: "toolu_",
  "openai-chat": "call_",
  "openai-responses": "call_",
  gemini: "fc_",
};

/** Fills in what a reply leaves open: ids, pieces, the stop reason and the usage. */
export function finishReply(reply: Reply & { readonly stopSequence?: string }, finishing: Finishing): FinishedReply {
  const { prompt, ids, nowMs } = finishing;
  const id = ids.next();
  const calls = finishCalls(reply.toolCalls ?? [], finishing);
  const textPieces = reply.chunks ?? splitWords(reply.text ?? "");
  const thought = reply.thinking ?? "";
  return {
    id,
    model: prompt.model,
    createdMs: nowMs,
    thinking: thought === "" ? undefined : { pieces: splitWords(thought), signature: signThought(thought) },
    textPieces,
    calls,
    stopReason: reply.stopReason ?? (calls.length > 0 ? "tool-use" : "end-turn"),
    vendorStopReason: reply.vendorStopReason,
    stopSequence: reply.stopSequence,
    usage: { ...estimateUsage(prompt, { thought, text: textPieces.join(""), calls }), ...reply.usage },
  };
}

function finishCalls(calls: readonly ReplyCall[], { prompt, ids, duplicateIds }: Finishing): FinishedCall[] {
  const finished = calls.map((call) => ({
    id: call.id ?? `${CALL_PREFIX[prompt.protocol]}${ids.next()}`,
    name: call.name,
    json: call.json ?? JSON.stringify(call.input ?? {}) ?? "{}",
  }));
  const first = finished[0];
  return duplicateIds && first !== undefined ? finished.map((call) => ({ ...call, id: first.id })) : finished;
}

/** OpenAI reports a cached prefix from this size on, in steps of 128. */
const LEAST_CACHED = 1024;
const CACHE_STEP = 128;

function estimateUsage(
  prompt: ModelPrompt,
  written: { readonly thought: string; readonly text: string; readonly calls: readonly FinishedCall[] },
): FinishedUsage {
  const inputTokens = Math.max(1, estimatePrompt(prompt));
  const reasoningTokens = estimateTokens(written.thought);
  let outputTokens = estimateTokens(written.text) + reasoningTokens;
  for (const call of written.calls) outputTokens += estimateTokens(call.name) + estimateTokens(call.json);
  const output: Usage & { readonly outputTokens: number } = {
    outputTokens: Math.max(1, outputTokens),
    ...(reasoningTokens > 0 && { reasoningTokens }),
  };
  const prefix = estimatePrefix(prompt);
  const isFollowUp = prompt.messages.some((message) => message.role === "assistant");
  if (prompt.protocol === "anthropic") {
    // Anthropic counts cached tokens separately from the rest of the prompt, the others count them as part of it.
    const cached = prompt.caches ? Math.min(prefix, inputTokens - 1) : 0;
    return {
      inputTokens: inputTokens - cached,
      cacheReadTokens: isFollowUp ? cached : 0,
      cacheWriteTokens: isFollowUp ? 0 : cached,
      ...output,
    };
  }
  const cached = isFollowUp && prefix >= LEAST_CACHED ? Math.floor(prefix / CACHE_STEP) * CACHE_STEP : 0;
  return { inputTokens, cacheReadTokens: cached, ...output };
}
