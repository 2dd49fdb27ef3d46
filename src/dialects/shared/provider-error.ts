import { type Diagnostic, type ErrorCode, type ErrorItem, errorItem } from "#domain";
import { type Frame, rawOf } from "#wire";

/** Some hosts put a whole page into their message. */
const MAX_MESSAGE_LENGTH = 2000;

/** What a provider said when it gave up, read from its dialect. */
export interface ProviderMessage {
  readonly message: string;
  /** Our word for the vendor's word, where the dialect has one; otherwise the status decides. */
  readonly code?: ErrorCode | undefined;
  readonly status?: number | undefined;
  readonly vendorCode?: string | undefined;
}

/** The terminal `error` for a provider's complaint inside a stream. */
export function providerError(complaint: ProviderMessage, frame: Frame): ErrorItem {
  const { status, vendorCode } = complaint;
  const diagnostic: Diagnostic = {
    ...(status === undefined ? {} : { status }),
    ...(vendorCode === undefined ? {} : { vendorCode }),
  };
  return errorItem(
    {
      code: complaint.code ?? codeOfStatus(status),
      message: complaint.message.slice(0, MAX_MESSAGE_LENGTH) || "The provider reported an error and gave no message.",
      terminal: true,
      diagnostic,
    },
    { raw: rawOf(frame) },
  );
}

/** Our word for an HTTP status, whether it came as one or stands inside an error object. */
export function codeOfStatus(status: number | undefined): ErrorCode {
  switch (status) {
    case 401:
    case 403:
    // No credit is not a matter of waiting: the key as it is may not do this.
    case 402:
      return "provider-auth";
    case 400:
    case 404:
    case 405:
    case 409:
    case 413:
    case 415:
    case 422:
      return "provider-invalid-request";
    case 429:
      return "provider-rate-limited";
    case 503:
    case 529:
      return "provider-overloaded";
    default:
      return "provider-error";
  }
}

/** A status that came as a number or as its digits; anything else is not one. */
export function readStatus(value: unknown): number | undefined {
  const status = typeof value === "string" && /^[1-5][0-9]{2}$/.test(value) ? Number(value) : value;
  return typeof status === "number" && Number.isInteger(status) && status >= 100 && status < 600 ? status : undefined;
}
