/** Why a store rejected a call. */
export type StoreErrorCode =
  | "invalid-run"
  | "run-exists"
  | "unknown-run"
  | "invalid-event"
  | "invalid-answer"
  | "invalid-file"
  | "out-of-sequence"
  | "run-over"
  /** Another worker holds the run, or no worker does: what this one wrote was not stored. */
  | "claim-lost"
  | "invalid-claim"
  | "invalid-node"
  | "invalid-cursor"
  | "invalid-thread"
  | "thread-exists"
  | "unknown-thread"
  /** A run of the thread has not ended yet. */
  | "thread-busy"
  | "store-closed"
  /** The storage itself failed: disk, connection, lock. `cause` has the driver's own error. */
  | "store-failed";

const STORE_ERROR: unique symbol = Symbol.for("millrace.StoreError") as never;

/**
 * A store did not carry out a call, and changed nothing. Drivers of the store contract reject with it.
 *
 * @example
 * throw new StoreError("unknown-thread", "There is no thread with this id.")
 */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly [STORE_ERROR] = true;
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, details: { cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
  }
}

/**
 * Whether a value is a `StoreError`. Unlike `instanceof`, this also works when two copies of the package are loaded.
 *
 * @example
 * await store.listRuns().catch((error: unknown) => {
 *   if (isStoreError(error) && error.code === "store-closed") return [];
 *   throw error;
 * })
 */
export function isStoreError(value: unknown): value is StoreError {
  return typeof value === "object" && value !== null && STORE_ERROR in value;
}
