import { isStartError, type StartErrorCode } from "#domain";
import { isQueueError, isStoreError, type StoreErrorCode } from "#sessions";

/** Why a request was rejected. */
export type ApiErrorCode =
  | "invalid-request"
  | "invalid-id"
  | "invalid-cursor"
  | "invalid-target"
  | "unauthorized"
  | "forbidden"
  | "forbidden-host"
  | "forbidden-origin"
  | "not-found"
  | "method-not-allowed"
  | "run-active"
  | "body-too-large"
  | "unsupported-media-type"
  | "too-many-requests"
  | "too-many-streams"
  | "too-many-tenant-runs"
  | "quota-exceeded"
  | "storage-exceeded"
  | "too-many-runs"
  | "store-unavailable"
  | "set-up-missing"
  | "shutting-down"
  | "internal";

type Status = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | 500 | 503 | 507;

const STATUS: Readonly<Record<ApiErrorCode, Status>> = {
  "invalid-request": 400,
  "invalid-id": 400,
  "invalid-cursor": 400,
  "invalid-target": 400,
  unauthorized: 401,
  forbidden: 403,
  "forbidden-host": 403,
  "forbidden-origin": 403,
  "not-found": 404,
  "method-not-allowed": 405,
  "run-active": 409,
  "body-too-large": 413,
  "unsupported-media-type": 415,
  "too-many-requests": 429,
  "too-many-streams": 429,
  "too-many-tenant-runs": 429,
  "quota-exceeded": 403,
  "too-many-runs": 503,
  "store-unavailable": 503,
  "set-up-missing": 503,
  "shutting-down": 503,
  "storage-exceeded": 507,
  internal: 500,
};

/** A rejected request, as reported over HTTP: without a stack, a path or any other internals. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ApiErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ApiErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }

  get status(): Status {
    return STATUS[this.code];
  }
}

/**
 * Converts any thrown value to an error response. An error that is not meant for clients becomes `internal` without its
 * message.
 */
export function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (isStartError(thrown)) return new ApiError(START_CODES[thrown.code] ?? "invalid-request", thrown.message);
  if (isStoreError(thrown)) {
    const code = STORE_CODES[thrown.code];
    if (code === "store-unavailable") return unavailable();
    if (code !== undefined) return new ApiError(code, thrown.message);
  }
  if (isQueueError(thrown)) return unavailable("queue");
  return new ApiError("internal", "The server could not process the request. See its log.");
}

/** Without the store's own message, which may contain paths. */
function unavailable(what = "storage"): ApiError {
  const message = `The server cannot use its ${what} now, and changed nothing. Ask again in a moment; its log says why.`;
  return new ApiError("store-unavailable", message, { "retry-after": "5" });
}

const START_CODES: Readonly<Partial<Record<StartErrorCode, ApiErrorCode>>> = {
  "missing-key": "set-up-missing",
  "cli-not-found": "set-up-missing",
  "unsupported-cli-version": "set-up-missing",
  "feature-unavailable": "set-up-missing",
  spawn: "set-up-missing",
  "unknown-backend": "invalid-target",
  "unknown-agent": "invalid-target",
};

const STORE_CODES: Readonly<Partial<Record<StoreErrorCode, ApiErrorCode>>> = {
  "invalid-cursor": "invalid-cursor",
  "invalid-thread": "invalid-request",
  "unknown-run": "not-found",
  "unknown-thread": "not-found",
  "thread-busy": "run-active",
  "store-failed": "store-unavailable",
  "store-closed": "store-unavailable",
};
