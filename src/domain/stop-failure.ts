import type { ErrorDetail } from "./error-detail.ts";
import type { StopReason } from "./message.ts";

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
        message: `${who} wrote a tool call that could not be read${wasReported ? ", and did so again after this was reported to it" : ""}${word}.`,
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
