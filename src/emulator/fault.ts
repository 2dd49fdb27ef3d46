import { aFlag, aText, type Check, expects, shape, wholeNumber } from "#domain";

/**
 * What goes wrong with one answer. The fields can be combined; all positions start at 0 and count from the first event
 * (or byte) of the body. A reply that is not streamed has two events: everything, and its last brace.
 */
export interface Fault {
  /** Sends this status instead of an answer, with the vendor's error body unless `body` is set. */
  readonly status?: number;
  /** The `retry-after` header, in seconds or as a date. */
  readonly retryAfter?: number | string;
  /** A string is sent as it is, any other value as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  /** The vendor's name for the error, in an error body or an error event. */
  readonly type?: string;
  readonly message?: string;
  /** The delay before the status is sent. */
  readonly delayMs?: number;
  /** Never sends a status. */
  readonly stallBeforeHeaders?: boolean;
  /** Ends the body properly, but too early. */
  readonly cutAfterEvents?: number;
  readonly cutAfterBytes?: number;
  /** Breaks the connection. */
  readonly resetAfterEvents?: number;
  readonly resetAfterBytes?: number;
  /** Sends nothing more, and keeps the connection open until the other side closes it. */
  readonly stallAfterEvents?: number;
  readonly stallAfterBytes?: number;
  /** The vendor's error event; the stream ends after it. */
  readonly errorEventAfterEvents?: number;
  /** Inserts one unreadable frame; the stream continues after it. */
  readonly malformedFrameAfterEvents?: number;
  /** Inserts one frame with bytes that are not UTF-8; the stream continues after it. */
  readonly invalidUtf8AfterEvents?: number;
  /** Omits this event. */
  readonly dropEvent?: number;
  /** Sends this event twice. */
  readonly repeatEvent?: number;
  /** Omits the events that mark the reply as complete. */
  readonly noEnd?: boolean;
  /** Gives all calls of the reply the same id. */
  readonly duplicateIds?: boolean;
  /** The delay before each write. */
  readonly slowMs?: number;
  /** The maximum size of a write. */
  readonly pieceBytes?: number;
  /** Applies the fault this many times, then no more. Default: always. */
  readonly times?: number;
  /** Distinguishes two otherwise equal faults when `times` is counted. */
  readonly key?: string;
}

const count = wholeNumber(0);

/** Checks a fault from a script or a header. */
export const checkFault = shape(
  {
    status: wholeNumber(200, 599),
    retryAfter: expects(
      (value) => typeof value === "string" || (Number.isSafeInteger(value) && (value as number) >= 0),
      "a number of seconds or a date",
    ),
    body: () => undefined,
    contentType: aText,
    type: aText,
    message: aText,
    delayMs: count,
    stallBeforeHeaders: aFlag,
    cutAfterEvents: count,
    cutAfterBytes: count,
    resetAfterEvents: count,
    resetAfterBytes: count,
    stallAfterEvents: count,
    stallAfterBytes: count,
    errorEventAfterEvents: count,
    malformedFrameAfterEvents: count,
    invalidUtf8AfterEvents: count,
    dropEvent: count,
    repeatEvent: count,
    noEnd: aFlag,
    duplicateIds: aFlag,
    slowMs: count,
    pieceBytes: wholeNumber(1),
    times: count,
    key: aText,
  } satisfies Record<keyof Fault, Check>,
  { expected: 'an object such as { "status": 503 }' },
);
