import type { ErrorCode, StopReason } from "#domain";

/** How a reply ended, read from its `finish_reason`. */
export interface Ending {
  readonly stopReason: StopReason;
  /** The host says that the model wrote everything it wanted to write, tool calls included. */
  readonly claimsWhole: boolean;
  /** The host's own word, where ours says less. */
  readonly vendorStopReason?: string;
}

const ENDINGS: ReadonlyMap<string, Ending> = new Map([
  ["stop", { stopReason: "end-turn", claimsWhole: true }],
  ["eos", { stopReason: "end-turn", claimsWhole: true }],
  ["tool_calls", { stopReason: "tool-use", claimsWhole: true }],
  ["function_call", { stopReason: "tool-use", claimsWhole: true }],
  ["length", { stopReason: "max-tokens", claimsWhole: false }],
  ["model_length", { stopReason: "max-tokens", claimsWhole: false }],
  ["content_filter", { stopReason: "content-filter", claimsWhole: false }],
  ["sensitive", { stopReason: "content-filter", claimsWhole: false }],
]);

/** Words that say more than the reason we have for them. */
const TELLING: ReadonlySet<string> = new Set(["content_filter", "sensitive", "model_length"]);

/** Finish reasons with which a host says that it failed. They end the stream, but not the reply. */
const FAILURES: ReadonlyMap<string, ErrorCode> = new Map([
  ["error", "provider-error"],
  ["abort", "provider-error"],
  ["network_error", "provider-error"],
  ["insufficient_system_resource", "provider-overloaded"],
]);

export function readEnding(finishReason: string): Ending {
  const ending = ENDINGS.get(finishReason);
  if (ending === undefined) {
    return { stopReason: "unknown", claimsWhole: false, vendorStopReason: finishReason };
  }
  return TELLING.has(finishReason) ? { ...ending, vendorStopReason: finishReason } : ending;
}

export function readFailure(finishReason: string): ErrorCode | undefined {
  return FAILURES.get(finishReason);
}
