import type { ErrorCode, StopReason } from "#domain";

/** `finishReason` in our words; reasons that are neither here nor among the failures are `unknown`. */
const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["STOP", "end-turn"],
  ["MAX_TOKENS", "max-tokens"],
  // The limit of a single request: the reply is not whole either.
  ["CONTINUATION", "max-tokens"],
  ["SAFETY", "content-filter"],
  ["RECITATION", "content-filter"],
  ["LANGUAGE", "content-filter"],
  ["BLOCKLIST", "content-filter"],
  ["PROHIBITED_CONTENT", "content-filter"],
  ["SPII", "content-filter"],
  ["IMAGE_SAFETY", "content-filter"],
  ["IMAGE_PROHIBITED_CONTENT", "content-filter"],
  ["IMAGE_RECITATION", "content-filter"],
  ["MALFORMED_FUNCTION_CALL", "malformed-call"],
  ["UNEXPECTED_TOOL_CALL", "malformed-call"],
]);

/** Finish reasons with which Gemini says that it gave up. They end the stream, but not the reply. */
const FAILURES: ReadonlyMap<string, ErrorCode> = new Map([
  ["OTHER", "provider-error"],
  ["TOO_MANY_TOOL_CALLS", "provider-error"],
  ["MALFORMED_RESPONSE", "provider-error"],
  ["IMAGE_OTHER", "provider-error"],
  ["NO_IMAGE", "provider-error"],
  // The request lacks a signature it has to carry: asking again changes nothing.
  ["MISSING_THOUGHT_SIGNATURE", "provider-invalid-request"],
]);

/** The default of the field: no reason at all. */
export const NO_REASON = "FINISH_REASON_UNSPECIFIED";

export function readStopReason(finishReason: string): StopReason {
  return STOP_REASONS.get(finishReason) ?? "unknown";
}

export function readFailure(finishReason: string): ErrorCode | undefined {
  return FAILURES.get(finishReason);
}
