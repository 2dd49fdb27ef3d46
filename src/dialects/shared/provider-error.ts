import { type ChunkOf, type Diagnostic, type ErrorCode, type ErrorItem, errorItem } from "#domain";
import { type Frame, rawOf } from "#wire";

/** Some hosts put a whole page into their message. */
const MAX_MESSAGE_LENGTH = 2000;

/** A provider's error message, read from its dialect. */
export interface ProviderMessage {
  readonly message: string;
  /** Our code for the vendor's word, if the dialect has one; otherwise the status decides. */
  readonly code?: ErrorCode | undefined;
  readonly status?: number | undefined;
  readonly vendorCode?: string | undefined;
}

/** The terminal `error` for a provider's error inside a stream. */
export function providerError(complaint: ProviderMessage, frame: Frame): ChunkOf<ErrorItem> {
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

/** Our code for an HTTP status, from the response or from an error object. */
export function codeOfStatus(status: number | undefined): ErrorCode {
  switch (status) {
    case 401:
    case 403:
    // Waiting does not help without credit: the key cannot be used for this.
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

/** A status given as a number or as digits; `undefined` for anything else. */
export function readStatus(value: unknown): number | undefined {
  const status = typeof value === "string" && /^[1-5][0-9]{2}$/.test(value) ? Number(value) : value;
  return typeof status === "number" && Number.isInteger(status) && status >= 100 && status < 600 ? status : undefined;
}
