import { remedyForName } from "#domain";
import { isRecord } from "#wire";

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

type Kind = "status" | "count" | "size" | "boolean" | "text" | "count-or-text" | "any";

const FIELDS = {
  status: "status",
  retryAfter: "count-or-text",
  body: "any",
  contentType: "text",
  type: "text",
  message: "text",
  delayMs: "count",
  stallBeforeHeaders: "boolean",
  cutAfterEvents: "count",
  cutAfterBytes: "count",
  resetAfterEvents: "count",
  resetAfterBytes: "count",
  stallAfterEvents: "count",
  stallAfterBytes: "count",
  errorEventAfterEvents: "count",
  malformedFrameAfterEvents: "count",
  invalidUtf8AfterEvents: "count",
  dropEvent: "count",
  repeatEvent: "count",
  noEnd: "boolean",
  duplicateIds: "boolean",
  slowMs: "count",
  pieceBytes: "size",
  times: "count",
  key: "text",
} as const satisfies Record<keyof Fault, Kind>;

const EXPECTED: Readonly<Record<Kind, string>> = {
  status: "a whole number from 200 to 599",
  count: "a whole number from 0 on",
  size: "a whole number from 1 on",
  boolean: "true or false",
  text: "a text",
  "count-or-text": "a number of seconds or a date",
  any: "any value",
};

/** Checks a fault somebody wrote. Returns what is wrong with it, in a sentence that names the field under `path`. */
export function findFaultMistake(value: unknown, path: string): string | undefined {
  if (!isRecord(value)) return `${path} is ${JSON.stringify(value)}. Give an object such as { "status": 503 }.`;
  for (const [field, given] of Object.entries(value)) {
    const kind = (FIELDS as Readonly<Record<string, Kind | undefined>>)[field];
    if (kind === undefined || !Object.hasOwn(FIELDS, field)) return unknownField(path, field);
    if (given !== undefined && !fits(kind, given)) {
      return `${path}.${field} is ${JSON.stringify(given)}. Give ${EXPECTED[kind]}.`;
    }
  }
  return undefined;
}

function unknownField(path: string, field: string): string {
  return `There is no ${path}.${field}. ${remedyForName(field, Object.keys(FIELDS))}`;
}

function fits(kind: Kind, given: unknown): boolean {
  switch (kind) {
    case "any":
      return true;
    case "boolean":
      return typeof given === "boolean";
    case "text":
      return typeof given === "string";
    case "count-or-text":
      return typeof given === "string" || isCount(given);
    case "count":
      return isCount(given);
    case "size":
      return isCount(given) && given > 0;
    case "status":
      return isCount(given) && given >= 200 && given <= 599;
  }
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
