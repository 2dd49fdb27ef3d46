/** Why a queue rejected a call. */
export type QueueErrorCode =
  | "invalid-job"
  | "queue-closed"
  /** The engine itself failed: connection, server, rights. `cause` has the driver's own error. */
  | "queue-failed";

const QUEUE_ERROR: unique symbol = Symbol.for("millrace.QueueError") as never;

/**
 * A queue did not carry out a call. Drivers of the queue contract reject with it.
 *
 * @example
 * throw new QueueError("queue-closed", "The queue is closed. Open another one.")
 */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly [QUEUE_ERROR] = true;
  readonly code: QueueErrorCode;

  constructor(code: QueueErrorCode, message: string, details: { cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
  }
}

/**
 * Whether a value is a `QueueError`. Unlike `instanceof`, this also works when two copies of the package are loaded.
 *
 * @example
 * const isAway = (error: unknown) => isQueueError(error) && error.code === "queue-failed"
 */
export function isQueueError(value: unknown): value is QueueError {
  return typeof value === "object" && value !== null && QUEUE_ERROR in value;
}
