import type { ErrorShape } from "../protocol.ts";
import type { RefusalKind } from "../refusal.ts";

const STATUS: Readonly<Record<RefusalKind, number>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  "not-found": 404,
  "wrong-method": 405,
  "too-large": 413,
  "rate-limited": 429,
  failed: 500,
  overloaded: 529,
};

const TYPE_OF_STATUS: ReadonlyMap<number, string> = new Map([
  [400, "invalid_request_error"],
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [405, "invalid_request_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);

/** `{ type: "error", error: { type, message }, request_id }` */
export const anthropicErrors: ErrorShape = {
  status: (refusal) => STATUS[refusal.kind],
  encode: (refusal, requestId) => encodeAnthropicError(typeOf(STATUS[refusal.kind]), refusal.message, requestId),
  encodeStatus: (status, trouble, requestId) =>
    encodeAnthropicError(trouble.type ?? typeOf(status), trouble.message, requestId),
  headers: (requestId) => ({
    "request-id": `req_${requestId}`,
    "anthropic-organization-id": "00000000-0000-4000-8000-000000000000",
    "anthropic-ratelimit-requests-limit": "1000",
    "anthropic-ratelimit-requests-remaining": "999",
    "anthropic-ratelimit-requests-reset": "2100-01-01T00:00:00Z",
  }),
};

export function encodeAnthropicError(type: string, message: string, requestId: string | undefined): unknown {
  return {
    type: "error",
    error: { type, message },
    ...(requestId !== undefined && { request_id: `req_${requestId}` }),
  };
}

function typeOf(status: number): string {
  return TYPE_OF_STATUS.get(status) ?? (status < 500 ? "invalid_request_error" : "api_error");
}
