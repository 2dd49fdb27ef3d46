import type { ErrorCode } from "#domain";
import { isRecord, ownString } from "#wire";
import { type ProviderComplaint, readStatus } from "../provider-error.ts";

/** What `error.code` and `error.type` say, at OpenAI and at hosts that imitate it. */
const WORDS: ReadonlyMap<string, ErrorCode> = new Map([
  ["rate_limit_exceeded", "provider-rate-limited"],
  ["rate_limit_error", "provider-rate-limited"],
  ["requests", "provider-rate-limited"],
  ["tokens", "provider-rate-limited"],
  ["server_overloaded", "provider-overloaded"],
  ["overloaded_error", "provider-overloaded"],
  ["engine_overloaded_error", "provider-overloaded"],
  ["service_unavailable", "provider-overloaded"],
  ["service_unavailable_error", "provider-overloaded"],
  ["invalid_api_key", "provider-auth"],
  ["authentication_error", "provider-auth"],
  ["permission_error", "provider-auth"],
  ["insufficient_quota", "provider-auth"],
  ["billing_not_active", "provider-auth"],
  ["content_filter", "content-filtered"],
  ["content_policy_violation", "content-filtered"],
  ["context_length_exceeded", "provider-invalid-request"],
  ["model_not_found", "provider-invalid-request"],
  ["invalid_request_error", "provider-invalid-request"],
  ["BadRequestError", "provider-invalid-request"],
  ["not_found_error", "provider-invalid-request"],
]);

/**
 * Reads the error a host put into the stream: OpenAI's object `{ message, type, code }`, or only a sentence.
 * The code is the narrower word, so it is asked before the type; numbers in its place are HTTP statuses.
 */
export function readComplaint(error: unknown): ProviderComplaint {
  if (!isRecord(error)) return { message: typeof error === "string" ? error : "" };
  const words = [ownString(error, "code"), ownString(error, "type")].filter(
    (word) => word !== undefined && word !== "",
  );
  const word = words.find((candidate) => candidate !== undefined && WORDS.has(candidate));
  const status = readStatus(error.code) ?? readStatus(error.status);
  return {
    message: ownString(error, "message") ?? "",
    code: word === undefined ? undefined : WORDS.get(word),
    status,
    vendorCode: words.find((candidate) => readStatus(candidate) === undefined) ?? status?.toString(),
  };
}
