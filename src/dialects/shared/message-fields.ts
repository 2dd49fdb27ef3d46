import { type Block, type ErrorCode, type MediaBlock, present, readCount, type StopReason, type Usage } from "#domain";
import { isRecord, type JsonRecord, ownRecord, ownString, ownValue } from "#wire";
import type { ProviderMessage } from "./provider-error.ts";

/** Maps the vendor's stop reasons to ours. A reason that is not in the table is `unknown`. */
const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["end_turn", "end-turn"],
  ["tool_use", "tool-use"],
  ["max_tokens", "max-tokens"],
  // The context window is full: to a reader this is the same as a limit on the answer.
  ["model_context_window_exceeded", "max-tokens"],
  ["stop_sequence", "stop-sequence"],
  ["refusal", "refusal"],
  ["pause_turn", "pause"],
]);

/** Words that are more precise than our reason for them. */
const NEEDS_VENDOR_REASON: ReadonlySet<string> = new Set(["model_context_window_exceeded"]);

/** The vendor's own word for a stop reason, if ours is less precise. */
export function vendorWord(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return NEEDS_VENDOR_REASON.has(value) || !STOP_REASONS.has(value) ? value : undefined;
}

/** Our stop reason for a vendor's word; `undefined` if there is none (null, missing). */
export function readStopReason(value: unknown): StopReason | undefined {
  return typeof value === "string" ? (STOP_REASONS.get(value) ?? "unknown") : undefined;
}

/** The counts of a Messages API `usage` object. A count that is missing or invalid stays unknown. */
export function readUsage(value: unknown): Usage {
  if (!isRecord(value)) return {};
  const details = ownRecord(value, "output_tokens_details");
  return asUsage({
    inputTokens: value.input_tokens,
    outputTokens: value.output_tokens,
    cacheReadTokens: value.cache_read_input_tokens,
    cacheWriteTokens: value.cache_creation_input_tokens,
    reasoningTokens: details?.thinking_tokens,
  });
}

/** Keeps the fields that are counts. */
export function asUsage(fields: { readonly [Field in keyof Usage]-?: unknown }): Usage {
  const inputTokens = readCount(fields.inputTokens);
  const outputTokens = readCount(fields.outputTokens);
  const cacheReadTokens = readCount(fields.cacheReadTokens);
  const cacheWriteTokens = readCount(fields.cacheWriteTokens);
  const reasoningTokens = readCount(fields.reasoningTokens);
  return present({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens });
}

/** The name for a frame without a `type`: the type of its value. */
export function kindOfValue(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Translates a vendor's tool name into the caller's. */
export type ToolName = (vendorName: string) => string;

/** Reads a whole content block. An unknown block, or one without a field that its type needs, is kept as it is. */
export function readBlock(raw: unknown, toolName: ToolName): Block {
  if (!isRecord(raw)) return { type: "unknown", raw };
  switch (raw.type) {
    case "text": {
      const text = ownString(raw, "text");
      return text === undefined ? { type: "unknown", raw } : { type: "text", text };
    }
    case "thinking": {
      const text = ownString(raw, "thinking");
      return text === undefined ? { type: "unknown", raw } : asThinking(text, ownString(raw, "signature"));
    }
    case "tool_use": {
      const call = readCall(raw, toolName);
      return call === undefined
        ? { type: "unknown", raw }
        : { type: "tool-call", ...call, input: ownValue(raw, "input") ?? {} };
    }
    case "image":
    case "document":
      return readMedia(raw, raw.type);
    default:
      return { type: "unknown", raw };
  }
}

/** The id and name of a `tool_use` block; `undefined` if one is missing, because such a call cannot be answered. */
export function readCall(raw: JsonRecord, toolName: ToolName): { callId: string; name: string } | undefined {
  const callId = ownString(raw, "id");
  const name = ownString(raw, "name");
  if (callId === undefined || callId === "" || name === undefined) return undefined;
  return { callId, name: toolName(name) };
}

/** A thinking block; an empty signature is left out. */
export function asThinking(text: string, signature: string | undefined): Block {
  return signature === undefined || signature === ""
    ? { type: "thinking", text }
    : { type: "thinking", text, signature, vendor: "anthropic" };
}

function readMedia(raw: JsonRecord, type: MediaBlock["type"]): Block {
  const source = ownRecord(raw, "source");
  const base64 = source?.type === "base64" ? ownString(source, "data") : undefined;
  const url = source?.type === "url" ? ownString(source, "url") : undefined;
  if (source === undefined || (base64 === undefined && url === undefined)) return { type: "unknown", raw };
  const mediaType = ownString(source, "media_type");
  const title = ownString(raw, "title");
  return {
    type,
    ...present({ mediaType, data: base64, url, title }),
  };
}

/** Maps the vendor's error types to our codes. A type that is not in the table is `provider-error`. */
const ERROR_TYPES: ReadonlyMap<string, ErrorCode> = new Map([
  ["overloaded_error", "provider-overloaded"],
  ["rate_limit_error", "provider-rate-limited"],
  ["authentication_error", "provider-auth"],
  ["permission_error", "provider-auth"],
  ["billing_error", "provider-auth"],
  ["invalid_request_error", "provider-invalid-request"],
  ["not_found_error", "provider-invalid-request"],
  ["request_too_large", "provider-invalid-request"],
]);

/**
 * Reads the Messages API's error object (`{ type, message }`, as in an `error` event and in the body of a failed
 * request). Anything else is an error without a message.
 */
export function readMessagesComplaint(error: unknown): ProviderMessage {
  if (!isRecord(error)) return { message: "", code: "provider-error" };
  const vendorCode = ownString(error, "type");
  const code = vendorCode === undefined ? undefined : ERROR_TYPES.get(vendorCode);
  return { message: ownString(error, "message") ?? "", code: code ?? "provider-error", vendorCode };
}
