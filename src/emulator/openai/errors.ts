import type { ErrorShape } from "../protocol.ts";
import type { Refusal, RefusalKind } from "../refusal.ts";

const STATUS: Readonly<Record<RefusalKind, number>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  "not-found": 404,
  "wrong-method": 405,
  "too-large": 413,
  "rate-limited": 429,
  failed: 500,
  overloaded: 503,
};

const CODE_OF_STATUS: ReadonlyMap<number, string> = new Map([
  [401, "invalid_api_key"],
  [429, "rate_limit_exceeded"],
]);

/** `{ error: { message, type, param, code } }` */
export const openaiErrors: ErrorShape = {
  status: (refusal) => STATUS[refusal.kind],
  encode: (refusal) => encodeRefusal(refusal),
  encodeStatus: (status, trouble) => ({
    error: {
      message: trouble.message,
      type: trouble.type ?? typeOf(status),
      param: null,
      code: CODE_OF_STATUS.get(status) ?? null,
    },
  }),
  headers: (requestId) => ({
    "x-request-id": `req_${requestId}`,
    "openai-version": "2020-10-01",
    "openai-processing-ms": "1",
  }),
};

function encodeRefusal(refusal: Refusal): unknown {
  const status = STATUS[refusal.kind];
  return {
    error: {
      message: refusal.message,
      type: typeOf(status),
      param: refusal.param ?? null,
      code: refusal.code ?? CODE_OF_STATUS.get(status) ?? null,
    },
  };
}

function typeOf(status: number): string {
  if (status === 429) return "requests";
  return status < 500 ? "invalid_request_error" : "server_error";
}
