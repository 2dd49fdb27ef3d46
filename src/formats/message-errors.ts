import type { ErrorCode } from "#domain";
import { isRecord, ownString } from "#wire";
import type { ProviderComplaint } from "./provider-error.ts";

/** The vendor's error types in our codes. What is not in the table is `provider-error`. */
const ERROR_TYPES: ReadonlyMap<string, ErrorCode> = new Map([
  ["overloaded_error", "provider-overloaded"],
  ["rate_limit_error", "provider-rate-limited"],
  ["authentication_error", "provider-auth"],
  ["permission_error", "provider-auth"],
  ["billing_error", "provider-auth"],
  ["invalid_request_error", "provider-invalid-request"],
  ["not_found_error", "provider-invalid-request"],
  ["request_too_large", "provider-invalid-request"],
]);

/**
 * Reads the Messages API's error object (`{ type, message }`, as in an `error` event and in the body of a failed
 * request). Anything else is a complaint without a message.
 */
export function readMessagesComplaint(error: unknown): ProviderComplaint {
  if (!isRecord(error)) return { message: "", code: "provider-error" };
  const vendorCode = ownString(error, "type");
  const code = vendorCode === undefined ? undefined : ERROR_TYPES.get(vendorCode);
  return { message: ownString(error, "message") ?? "", code: code ?? "provider-error", vendorCode };
}
