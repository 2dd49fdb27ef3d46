import type { StopReason } from "#domain";
import { isRecord, parseJson } from "#wire";
import type { VendorError, WireEvent } from "../protocol.ts";
import type { FinishedCall, FinishedReply } from "../reply.ts";
import { codeOfName, encodeGeminiError } from "./errors.ts";
import { signCall } from "./fields.ts";

const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  "end-turn": "STOP",
  "tool-use": "STOP",
  "max-tokens": "MAX_TOKENS",
  "stop-sequence": "STOP",
  refusal: "SAFETY",
  "content-filter": "SAFETY",
  pause: "STOP",
  "malformed-call": "MALFORMED_FUNCTION_CALL",
  unknown: "UNKNOWN",
};

/** Encodes a reply as the chunks of a stream: as server-sent events, or as one JSON list that grows. */
export function* encodeGeminiStream(reply: FinishedReply, form: "sse" | "list"): Generator<WireEvent> {
  let count = 0;
  const event = (chunk: unknown): WireEvent => {
    const json = JSON.stringify(chunk);
    count += 1;
    // The vendor ends its lines with CRLF.
    return { text: form === "sse" ? `data: ${json}\r\n\r\n` : `${count === 1 ? "[" : ",\r\n"}${json}` };
  };
  for (const parts of partsOf(reply)) yield event(chunkOf(reply, { parts, finish: undefined }));
  const last = event(chunkOf(reply, { parts: [{ text: "" }], finish: finishOf(reply) }));
  yield { text: form === "sse" ? last.text : `${last.text}]`, isEnd: true };
}

/** Encodes a reply as one JSON value. */
export function encodeGeminiWhole(reply: FinishedReply): unknown {
  const parts: object[] = [];
  if (reply.thinking !== undefined) parts.push({ text: reply.thinking.pieces.join(""), thought: true });
  const text = reply.textPieces.join("");
  const calls = callParts(reply.calls);
  if (text !== "" || (calls.length === 0 && parts.length === 0)) parts.push({ text });
  return chunkOf(reply, { parts: [...parts, ...calls], finish: finishOf(reply) });
}

export function encodeGeminiTrouble({ type = "UNAVAILABLE", message }: VendorError, form: "sse" | "list"): string {
  const json = JSON.stringify(encodeGeminiError(codeOfName(type), type, message));
  return form === "sse" ? `data: ${json}\r\n\r\n` : `,\r\n${json}]`;
}

function* partsOf(reply: FinishedReply): Generator<object[]> {
  for (const text of reply.thinking?.pieces ?? []) yield [{ text, thought: true }];
  for (const text of reply.textPieces) yield [{ text }];
  for (const part of callParts(reply.calls)) yield [part];
}

/**
 * Calls are always whole here. A call whose arguments are not a JSON object is left out; the finish reason shows it.
 */
function callParts(calls: readonly FinishedCall[]): object[] {
  const parts: object[] = [];
  for (const { id, name, json } of calls) {
    const args = readArguments(json);
    if (args === undefined) continue;
    const signed = parts.length === 0 && { thoughtSignature: signCall(name) };
    parts.push({ functionCall: { id, name, args }, ...signed });
  }
  return parts;
}

function readArguments(json: string): unknown {
  const parsed = parseJson(json);
  return parsed.fault === undefined && isRecord(parsed.value) ? parsed.value : undefined;
}

function finishOf(reply: FinishedReply): object {
  if (reply.vendorStopReason !== undefined) return { finishReason: reply.vendorStopReason };
  const broken = reply.calls.find((call) => readArguments(call.json) === undefined);
  if (broken === undefined || reply.stopReason === "max-tokens")
    return { finishReason: FINISH_REASONS[reply.stopReason] };
  return {
    finishReason: "MALFORMED_FUNCTION_CALL",
    finishMessage: `Malformed function call: ${broken.name}(${broken.json.slice(0, 200)})`,
  };
}

function chunkOf(
  reply: FinishedReply,
  { parts, finish }: { readonly parts: readonly object[]; readonly finish: object | undefined },
): object {
  const { usage } = reply;
  const thoughts = usage.reasoningTokens ?? 0;
  return {
    candidates: [{ content: { parts, role: "model" }, ...finish, index: 0 }],
    usageMetadata: {
      promptTokenCount: usage.inputTokens,
      ...(finish !== undefined && { candidatesTokenCount: usage.outputTokens - thoughts }),
      totalTokenCount: usage.inputTokens + (finish === undefined ? 0 : usage.outputTokens),
      ...(usage.cacheReadTokens !== undefined &&
        usage.cacheReadTokens > 0 && { cachedContentTokenCount: usage.cacheReadTokens }),
      ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
      promptTokensDetails: [{ modality: "TEXT", tokenCount: usage.inputTokens }],
    },
    modelVersion: reply.model,
    responseId: reply.id,
  };
}
