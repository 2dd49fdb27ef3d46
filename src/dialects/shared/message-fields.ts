import { type Block, type ErrorCode, type MediaBlock, readCount, type StopReason, type Usage } from "#domain";
import { isRecord, type JsonRecord, ownRecord, ownString, ownValue } from "#wire";
import type { ProviderMessage } from "./provider-error.ts";

/** The vendor's stop reasons in our words. What is not in the table is `unknown`. */
const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["end_turn", "end-turn"],
  ["tool_use", "tool-use"],
  ["max_tokens", "max-tokens"],
  // The window is full: for a reader the same as a limit on the answer.
  ["model_context_window_exceeded", "max-tokens"],
  ["stop_sequence", "stop-sequence"],
  ["refusal", "refusal"],
  ["pause_turn", "pause"],
]);

/** Words that say more than the reason we have for them. */
const TELLING: ReadonlySet<string> = new Set(["model_context_window_exceeded"]);

/** The vendor's own word for a stop reason, where ours says less. */
export function vendorWord(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return TELLING.has(value) || !STOP_REASONS.has(value) ? value : undefined;
}

/** The stop reason a vendor's word means; `undefined` while there is none (null, missing). */
export function readStopReason(value: unknown): StopReason | undefined {
  return typeof value === "string" ? (STOP_REASONS.get(value) ?? "unknown") : undefined;
}

/** The counts of a Messages API `usage` object. What is missing or not a count stays unknown. */
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

/** Keeps those of the fields that are counts. */
export function asUsage(fields: { readonly [Field in keyof Usage]-?: unknown }): Usage {
  const inputTokens = readCount(fields.inputTokens);
  const outputTokens = readCount(fields.outputTokens);
  const cacheReadTokens = readCount(fields.cacheReadTokens);
  const cacheWriteTokens = readCount(fields.cacheWriteTokens);
  const reasoningTokens = readCount(fields.reasoningTokens);
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(cacheReadTokens !== undefined && { cacheReadTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}

/** What to call a frame that has no `type`: the kind of its value. */
export function kindOfValue(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Translates a vendor's tool name into the caller's. */
export type ToolName = (vendorName: string) => string;

/** A whole content block in our words. One we do not know, or that lacks what its type needs, is kept as it is. */
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

/** Id and name of a `tool_use` block; `undefined` when one of them is missing, for then nobody could answer it. */
export function readCall(raw: JsonRecord, toolName: ToolName): { callId: string; name: string } | undefined {
  const callId = ownString(raw, "id");
  const name = ownString(raw, "name");
  if (callId === undefined || callId === "" || name === undefined) return undefined;
  return { callId, name: toolName(name) };
}

/** A thinking block; an empty signature is none. */
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
    ...(mediaType !== undefined && { mediaType }),
    ...(base64 !== undefined && { data: base64 }),
    ...(url !== undefined && { url }),
    ...(title !== undefined && { title }),
  };
}

/** The vendor's error types in our codes. What is not in the table is `provider-error`. */
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
 * request). Anything else is a complaint without a message.
 */
export function readMessagesComplaint(error: unknown): ProviderMessage {
  if (!isRecord(error)) return { message: "", code: "provider-error" };
  const vendorCode = ownString(error, "type");
  const code = vendorCode === undefined ? undefined : ERROR_TYPES.get(vendorCode);
  return { message: ownString(error, "message") ?? "", code: code ?? "provider-error", vendorCode };
}
