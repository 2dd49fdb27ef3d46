import { aFlag, aText, type Check, expects, shape, wholeNumber } from "#domain";

/**
 * What is to go wrong with one answer. The fields can be combined; all counts start at 0 and count from the first
 * event (or byte) of the body. A whole reply is two events: everything, and its last brace.
 */
export interface Fault {
  /** This status instead of an answer, with the vendor's error body unless `body` is given. */
  readonly status?: number;
  /** The `retry-after` header, in seconds or as a date. */
  readonly retryAfter?: number | string;
  /** Sent as it is when it is text, otherwise as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  /** The vendor's name for the error, in an error body or an error event. */
  readonly type?: string;
  readonly message?: string;
  /** Waits before the status is sent. */
  readonly delayMs?: number;
  /** Never sends a status. */
  readonly stallBeforeHeaders?: boolean;
  /** Ends the body properly, but too early. */
  readonly cutAfterEvents?: number;
  readonly cutAfterBytes?: number;
  /** Breaks the connection. */
  readonly resetAfterEvents?: number;
  readonly resetAfterBytes?: number;
  /** Sends nothing more, and holds the connection open until the other side goes. */
  readonly stallAfterEvents?: number;
  readonly stallAfterBytes?: number;
  /** The vendor's error event; the stream ends after it. */
  readonly errorEventAfterEvents?: number;
  /** One frame that cannot be read; the stream goes on after it. */
  readonly malformedFrameAfterEvents?: number;
  /** Bytes that are not UTF-8 inside one frame; the stream goes on after it. */
  readonly invalidUtf8AfterEvents?: number;
  /** This event is left out. */
  readonly dropEvent?: number;
  /** This event is sent twice. */
  readonly repeatEvent?: number;
  /** Everything but what says that the reply is whole. */
  readonly noEnd?: boolean;
  /** All calls of the reply have one id. */
  readonly duplicateIds?: boolean;
  /** Waits before each write. */
  readonly slowMs?: number;
  /** No write is longer than this. */
  readonly pieceBytes?: number;
  /** Goes wrong so many times, then right. Default: always. */
  readonly times?: number;
  /** Tells two faults apart that are otherwise the same, where `times` counts. */
  readonly key?: string;
}

const count = wholeNumber(0);

/** Checks a fault that somebody wrote. */
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
