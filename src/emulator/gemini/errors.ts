import type { ErrorShape } from "../protocol.ts";
import type { RefusalKind } from "../refusal.ts";

// Gemini has no 401 for a request without a key and no 413 for one that is too large.
const STATUS: Readonly<Record<RefusalKind, number>> = {
  invalid: 400,
  unauthorized: 403,
  forbidden: 403,
  "not-found": 404,
  "wrong-method": 404,
  "too-large": 400,
  "rate-limited": 429,
  failed: 500,
  overloaded: 503,
};

const NAME_OF_STATUS: ReadonlyMap<number, string> = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [409, "ABORTED"],
  [429, "RESOURCE_EXHAUSTED"],
  [499, "CANCELLED"],
  [500, "INTERNAL"],
  [501, "UNIMPLEMENTED"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
]);

/** `{ error: { code, message, status } }` */
export const geminiErrors: ErrorShape = {
  status: (refusal) => STATUS[refusal.kind],
  encode: (refusal) => encodeGeminiError(STATUS[refusal.kind], undefined, refusal.message),
  encodeStatus: (status, trouble) => encodeGeminiError(status, trouble.type, trouble.message),
  headers: () => ({ "x-gemini-service-tier": "standard", vary: "Origin, X-Origin, Referer" }),
};

export function encodeGeminiError(code: number, name: string | undefined, message: string): unknown {
  return { error: { code, message, status: name ?? NAME_OF_STATUS.get(code) ?? "UNKNOWN" } };
}

/** The code for a status name; for an unknown name Gemini's code for an overload. */
export function codeOfName(name: string): number {
  for (const [code, known] of NAME_OF_STATUS) if (known === name) return code;
  return 503;
}
