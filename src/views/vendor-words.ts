import type { StopReason, Usage } from "#domain";

/** Token counts as the Messages API names them. Absent is unknown. */
export interface VendorUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_creation_input_tokens?: number;
  readonly cache_read_input_tokens?: number;
}

const STOP_REASONS = {
  "end-turn": "end_turn",
  "tool-use": "tool_use",
  "max-tokens": "max_tokens",
  "stop-sequence": "stop_sequence",
  refusal: "refusal",
  "content-filter": "content_filter",
  pause: "pause_turn",
  "malformed-call": null,
  unknown: null,
} as const satisfies Record<StopReason, string | null>;

/** A stop reason in the vendor's spelling; `null`, as on the wire, when there is none. */
export function vendorStopReason(reason: StopReason | undefined): string | null {
  return reason !== undefined && Object.hasOwn(STOP_REASONS, reason) ? STOP_REASONS[reason] : null;
}

export function vendorUsage(usage: Usage | undefined): VendorUsage {
  if (usage === undefined) return {};
  const { inputTokens, outputTokens, cacheWriteTokens, cacheReadTokens } = usage;
  return {
    ...(inputTokens !== undefined && { input_tokens: inputTokens }),
    ...(outputTokens !== undefined && { output_tokens: outputTokens }),
    ...(cacheWriteTokens !== undefined && { cache_creation_input_tokens: cacheWriteTokens }),
    ...(cacheReadTokens !== undefined && { cache_read_input_tokens: cacheReadTokens }),
  };
}
