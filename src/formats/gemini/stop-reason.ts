import type { StopReason } from "#domain";

/** `finishReason` in our words; reasons that are not here are `unknown`. */
const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["STOP", "end-turn"],
  ["MAX_TOKENS", "max-tokens"],
  ["SAFETY", "content-filter"],
  ["RECITATION", "content-filter"],
  ["BLOCKLIST", "content-filter"],
  ["PROHIBITED_CONTENT", "content-filter"],
  ["SPII", "content-filter"],
  ["IMAGE_SAFETY", "content-filter"],
  ["IMAGE_PROHIBITED_CONTENT", "content-filter"],
  ["IMAGE_RECITATION", "content-filter"],
]);

/** The reason of a reply that ended in a call which the model wrote wrongly and Gemini threw away. */
export const MALFORMED_CALL = "MALFORMED_FUNCTION_CALL";

/** The default of the field: no reason at all. */
export const NO_REASON = "FINISH_REASON_UNSPECIFIED";

export function readStopReason(finishReason: string): StopReason | undefined {
  return STOP_REASONS.get(finishReason);
}
