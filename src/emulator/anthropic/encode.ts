import type { StopReason } from "#domain";
import { encodeSse, isRecord, parseJson } from "#wire";
import type { VendorError, WireEvent } from "../protocol.ts";
import type { FinishedReply } from "../reply.ts";
import { splitEvery } from "../text-pieces.ts";
import { encodeAnthropicError } from "./errors.ts";

const STOP_REASONS: Readonly<Record<StopReason, string>> = {
  "end-turn": "end_turn",
  "tool-use": "tool_use",
  "max-tokens": "max_tokens",
  "stop-sequence": "stop_sequence",
  refusal: "refusal",
  "content-filter": "refusal",
  pause: "pause_turn",
  "malformed-call": "other",
  unknown: "other",
};

/** Arguments are sent in pieces of about this many characters. */
const FRAGMENT = 12;

/** Encodes a reply as the events of a stream. */
export function* encodeAnthropicStream(reply: FinishedReply): Generator<WireEvent> {
  yield event("message_start", {
    message: { ...envelope(reply), content: [], stop_reason: null, stop_sequence: null, usage: usageOf(reply, 1) },
  });
  let index = 0;
  for (const block of blocksOf(reply)) {
    yield event("content_block_start", { index, content_block: block.start });
    if (index === 0) yield event("ping", {});
    for (const delta of block.deltas) yield event("content_block_delta", { index, delta });
    yield event("content_block_stop", { index });
    index += 1;
  }
  yield {
    ...event("message_delta", {
      delta: {
        stop_reason: reply.vendorStopReason ?? STOP_REASONS[reply.stopReason],
        stop_sequence: reply.stopSequence ?? null,
      },
      usage: usageOf(reply, reply.usage.outputTokens),
    }),
    isEnd: true,
  };
  yield { ...event("message_stop", {}), isEnd: true };
}

/** Encodes a reply as one JSON value. */
export function encodeAnthropicWhole(reply: FinishedReply): unknown {
  return {
    ...envelope(reply),
    content: [...blocksOf(reply)].map((block) => block.whole),
    stop_reason: reply.vendorStopReason ?? STOP_REASONS[reply.stopReason],
    stop_sequence: reply.stopSequence ?? null,
    usage: usageOf(reply, reply.usage.outputTokens),
  };
}

export function encodeAnthropicTrouble({ type = "overloaded_error", message }: VendorError): string {
  return encodeSse({ event: "error", data: JSON.stringify(encodeAnthropicError(type, message, undefined)) });
}

function event(type: string, fields: object): WireEvent {
  return { text: encodeSse({ event: type, data: JSON.stringify({ type, ...fields }) }) };
}

function envelope(reply: FinishedReply): object {
  return { id: `msg_${reply.id}`, type: "message", role: "assistant", model: reply.model };
}

interface EncodedBlock {
  readonly start: object;
  readonly deltas: Iterable<object>;
  readonly whole: object;
}

function* blocksOf({ thinking, textPieces, calls }: FinishedReply): Generator<EncodedBlock> {
  if (thinking !== undefined) {
    const signed = { type: "signature_delta", signature: thinking.signature };
    yield {
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [...thinking.pieces.map((piece) => ({ type: "thinking_delta", thinking: piece })), signed],
      whole: { type: "thinking", thinking: thinking.pieces.join(""), signature: thinking.signature },
    };
  }
  if (textPieces.length > 0) {
    yield {
      start: { type: "text", text: "" },
      deltas: mapEach(textPieces, (text) => ({ type: "text_delta", text })),
      whole: { type: "text", text: textPieces.join("") },
    };
  }
  for (const { id, name, json } of calls) {
    const use = { type: "tool_use", id, name };
    const parsed = parseJson(json);
    yield {
      start: { ...use, input: {} },
      // The vendor begins with an empty piece.
      deltas: mapEach(["", ...splitEvery(json, FRAGMENT)], (part) => ({
        type: "input_json_delta",
        partial_json: part,
      })),
      whole: { ...use, input: parsed.fault === undefined && isRecord(parsed.value) ? parsed.value : {} },
    };
  }
}

function* mapEach<T>(values: Iterable<T>, map: (value: T) => object): Generator<object> {
  for (const value of values) yield map(value);
}

function usageOf({ usage }: FinishedReply, outputTokens: number): object {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens ?? 0,
    cache_read_input_tokens: usage.cacheReadTokens ?? 0,
    output_tokens: outputTokens,
    ...(usage.reasoningTokens !== undefined && { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
    service_tier: "standard",
  };
}
