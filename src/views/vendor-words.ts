import { present, type StopReason, type Usage } from "#domain";

/** Token counts with the names of the Messages API. Absent means unknown. */
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

/** A stop reason in the vendor's spelling; `null` if there is none, as on the wire. */
export function vendorStopReason(reason: StopReason | undefined): string | null {
  return reason !== undefined && Object.hasOwn(STOP_REASONS, reason) ? STOP_REASONS[reason] : null;
}

export function vendorUsage(usage: Usage | undefined): VendorUsage {
  if (usage === undefined) return {};
  const { inputTokens, outputTokens, cacheWriteTokens, cacheReadTokens } = usage;
  return present({
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
  });
}
