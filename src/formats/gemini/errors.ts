import type { ErrorCode } from "#domain";
import { isRecord, ownString } from "#wire";
import { type ProviderComplaint, readStatus } from "../provider-error.ts";

/** Google's canonical names for what went wrong. */
const WORDS: ReadonlyMap<string, ErrorCode> = new Map([
  ["RESOURCE_EXHAUSTED", "provider-rate-limited"],
  ["UNAVAILABLE", "provider-overloaded"],
  ["UNAUTHENTICATED", "provider-auth"],
  ["PERMISSION_DENIED", "provider-auth"],
  ["INVALID_ARGUMENT", "provider-invalid-request"],
  ["FAILED_PRECONDITION", "provider-invalid-request"],
  ["OUT_OF_RANGE", "provider-invalid-request"],
  ["NOT_FOUND", "provider-invalid-request"],
]);

/** Reads the error object `{ code, status, message }`, in which `code` is an HTTP status and `status` a name. */
export function readComplaint(error: unknown): ProviderComplaint {
  if (!isRecord(error)) return { message: typeof error === "string" ? error : "" };
  const name = ownString(error, "status") || undefined;
  const status = readStatus(error.code);
  return {
    message: ownString(error, "message") ?? "",
    code: name === undefined ? undefined : WORDS.get(name),
    status,
    vendorCode: name ?? status?.toString(),
  };
}
