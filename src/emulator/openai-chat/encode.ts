import type { StopReason } from "#domain";
import { encodeSse, type JsonRecord, ownRecord } from "#wire";
import type { VendorError, WireEvent } from "../protocol.ts";
import type { FinishedReply } from "../reply.ts";
import { splitEvery } from "../text-pieces.ts";

const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  "end-turn": "stop",
  "tool-use": "tool_calls",
  "max-tokens": "length",
  "stop-sequence": "stop",
  refusal: "stop",
  "content-filter": "content_filter",
  pause: "stop",
  "malformed-call": "other",
  unknown: "other",
};

const FRAGMENT = 12;

/** Encodes a reply as the chunks of a stream. */
export function* encodeChatStream(reply: FinishedReply, body: JsonRecord): Generator<WireEvent> {
  const countsUsage = ownRecord(body, "stream_options")?.include_usage === true;
  const chunk = (choices: readonly object[], usage: object | null): WireEvent => ({
    text: encodeSse({
      data: JSON.stringify({ ...envelope(reply, "chat.completion.chunk"), choices, ...(countsUsage && { usage }) }),
    }),
  });
  const delta = (fields: object): WireEvent =>
    chunk([{ index: 0, delta: fields, logprobs: null, finish_reason: null }], null);

  yield delta({
    role: "assistant",
    content: reply.textPieces.length === 0 && reply.calls.length > 0 ? null : "",
    refusal: null,
  });
  for (const piece of reply.thinking?.pieces ?? []) yield delta({ reasoning_content: piece });
  const field = reply.stopReason === "refusal" ? "refusal" : "content";
  for (const piece of reply.textPieces) yield delta({ [field]: piece });
  for (const [index, { id, name, json }] of reply.calls.entries()) {
    yield delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
    for (const piece of splitEvery(json, FRAGMENT))
      yield delta({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  const last = {
    index: 0,
    delta: {},
    logprobs: null,
    finish_reason: reply.vendorStopReason ?? FINISH_REASONS[reply.stopReason],
  };
  yield { ...chunk([last], null), isEnd: true };
  if (countsUsage) yield { ...chunk([], usageOf(reply)), isEnd: true };
  yield { text: encodeSse({ data: "[DONE]" }), isEnd: true };
}

/** Encodes a reply as one JSON value. */
export function encodeChatWhole(reply: FinishedReply): unknown {
  const text = reply.textPieces.join("");
  const isRefused = reply.stopReason === "refusal";
  const calls = reply.calls.map(({ id, name, json }) => ({
    id,
    type: "function",
    function: { name, arguments: json },
  }));
  const message = {
    role: "assistant",
    content: isRefused || (text === "" && calls.length > 0) ? null : text,
    refusal: isRefused ? text : null,
    ...(reply.thinking !== undefined && { reasoning_content: reply.thinking.pieces.join("") }),
    ...(calls.length > 0 && { tool_calls: calls }),
    annotations: [],
  };
  return {
    ...envelope(reply, "chat.completion"),
    choices: [
      { index: 0, message, logprobs: null, finish_reason: reply.vendorStopReason ?? FINISH_REASONS[reply.stopReason] },
    ],
    usage: usageOf(reply),
  };
}

export function encodeChatTrouble({ type = "server_error", message }: VendorError): string {
  return encodeSse({ data: JSON.stringify({ error: { message, type, param: null, code: null } }) });
}

function envelope(reply: FinishedReply, object: string): object {
  return {
    id: `chatcmpl-${reply.id}`,
    object,
    created: Math.floor(reply.createdMs / 1000),
    model: reply.model,
    service_tier: "default",
    system_fingerprint: "fp_millrace",
  };
}

function usageOf({ usage }: FinishedReply): object {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0, audio_tokens: 0 },
  };
}
