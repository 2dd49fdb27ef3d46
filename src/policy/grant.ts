import { digestOf } from "./json-copy.ts";
import type { Grant } from "./policy.ts";

/**
 * The right to run one call once, with exactly these arguments. The first `redeem` uses it up, even one with other
 * arguments; after an abort it is void.
 */
export function createGrant(call: { readonly callId: string; readonly input: unknown }, signal: AbortSignal): Grant {
  const allowed = digestOf([call.callId, call.input]);
  let isUsed = false;
  return {
    redeem(input) {
      if (isUsed || signal.aborted) return false;
      isUsed = true;
      try {
        return digestOf([call.callId, input]) === allowed;
      } catch {
        return false;
      }
    },
  };
}
