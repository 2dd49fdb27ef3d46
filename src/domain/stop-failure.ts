import type { ErrorDetail } from "./error-detail.ts";
import type { StopReason } from "./message.ts";
import type { WarningDetail } from "./warning.ts";

const COMPLETE: ReadonlySet<StopReason> = new Set(["end-turn", "tool-use", "stop-sequence"]);

/**
 * Whether the vendor declares with this reason that the reply is complete. The calls of any other reply are not made,
 * not even those that look complete. A backend that gives no reason reports complete replies only.
 */
export function isCompleteReply(stopReason: StopReason | undefined): boolean {
  return stopReason === undefined || COMPLETE.has(stopReason);
}

/** A call of a reply that its vendor did not declare complete. */
export function callNotMade(
  call: { readonly callId: string; readonly name: string; readonly [field: string]: unknown },
  reason: string,
): WarningDetail {
  return {
    code: "tool-call-incomplete",
    message: `The reply stopped before it was complete (${reason}), so its call to ${JSON.stringify(call.name)} (${call.callId}) was not made. Allow more output tokens, or ask again.`,
    context: { ...call, stopReason: reason },
  };
}

/** The terminal error of a reply that stopped for this reason; `undefined` if the reason is not a failure by itself. */
export function stopFailure(
  who: string,
  reply: { readonly stopReason?: StopReason; readonly vendorStopReason?: string; readonly wasReported?: boolean },
): ErrorDetail | undefined {
  const { stopReason, vendorStopReason, wasReported = false } = reply;
  const word = vendorStopReason === undefined ? "" : ` (${vendorStopReason})`;
  const vendorCode = vendorStopReason === undefined ? {} : { vendorCode: vendorStopReason };
  switch (stopReason) {
    case "refusal":
      return {
        code: "refused",
        message: `${who} refused to answer.`,
        terminal: true,
        diagnostic: { ...FILTERED, ...vendorCode },
      };
    case "content-filter":
      return {
        code: "content-filtered",
        message: `${who}'s filter stopped the answer${word}.`,
        terminal: true,
        diagnostic: { ...FILTERED, ...vendorCode },
      };
    case "malformed-call":
      return {
        code: "malformed-tool-call",
        message: `${who} wrote a tool call that is incomplete or could not be read${wasReported ? ", and did so again after this was reported to it" : ""}${word}.`,
        terminal: true,
        diagnostic: { ...MALFORMED, ...vendorCode },
      };
    default:
      return undefined;
  }
}

const FILTERED = {
  hint: "The provider's safety rules ended this answer; asking the same again will most likely end the same way.",
  troubleshooting: "Change the wording of the prompt, or ask another backend.",
} as const;

const MALFORMED = {
  hint: "The model cannot write the arguments of one of the tools.",
  troubleshooting: "Make the tools' schemas simpler, offer fewer tools, or ask another model.",
} as const;
