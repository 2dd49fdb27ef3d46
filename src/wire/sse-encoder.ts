import type { AgentEvent } from "#domain";
import { EVENT_FAMILIES } from "#domain";
import { encodeEvent, encodeEventInSlices } from "./event-codec.ts";

const LINE_END = /\r\n|\r|\n/;
const UNSAFE_IN_FIELD = /[\r\n\0]/;

/** The fields of one server-sent event. */
export interface SseFields {
  /** The reader sends it back as `Last-Event-ID`. */
  readonly id?: string;
  /** The event's name. */
  readonly event?: string;
  /**
   * Any text; CR, LF and CRLF in it all arrive as a line feed. Without it, the event only carries its comment or
   * `retry`.
   */
  readonly data?: string;
  /** Text that readers ignore; keeps a connection alive. */
  readonly comment?: string;
  /** How many milliseconds a reader waits before it reconnects. */
  readonly retry?: number;
}

/**
 * One server-sent event as text, with its closing blank line.
 *
 * The content of a field cannot add another field: data and comments are split at every line end, and an id or a name
 * with CR, LF or NUL throws a `TypeError`.
 *
 * @example
 * encodeSse({ id: "7", event: "text-delta", data: "{}" }) // "id: 7\nevent: text-delta\ndata: {}\n\n"
 */
export function encodeSse(fields: SseFields): string {
  let text = "";
  if (fields.comment !== undefined) text += encodeLines(":", fields.comment);
  if (fields.retry !== undefined) text += `retry: ${checkRetry(fields.retry)}\n`;
  if (fields.id !== undefined) text += `id: ${checkField("id", fields.id)}\n`;
  if (fields.event !== undefined) text += `event: ${checkField("event", fields.event)}\n`;
  if (fields.data !== undefined) text += encodeLines("data:", fields.data);
  return `${text}\n`;
}

/**
 * An event of a run as one server-sent event: `id` is its number, `event` its type, `data` its JSON on one line.
 * `createSseFramer` and `decodeEvent` turn it back into the event.
 */
export function encodeEventSse(event: AgentEvent): string {
  return `${encodeEventHead(event)}${encodeEvent(event)}\n\n`;
}

/** The same in pieces, for large events. */
export function* encodeEventSseInSlices(event: AgentEvent): Generator<string, undefined> {
  yield encodeEventHead(event);
  yield* encodeEventInSlices(event);
  yield "\n\n";
  return undefined;
}

function encodeEventHead(event: AgentEvent): string {
  // JSON has no raw line ends, so the data is one line. Number and type are checked because the caller may use plain
  // JavaScript.
  if (!Object.hasOwn(EVENT_FAMILIES, event.type)) {
    throw new TypeError(`Unknown event type ${JSON.stringify(event.type)}; it cannot be sent as an SSE event.`);
  }
  if (!Number.isSafeInteger(event.seq)) {
    throw new TypeError(`seq is ${String(event.seq)}; only a numbered event can be sent as an SSE event.`);
  }
  return `id: ${event.seq}\nevent: ${event.type}\ndata: `;
}

function encodeLines(prefix: string, value: string): string {
  let text = "";
  for (const line of value.split(LINE_END)) text += `${prefix} ${line}\n`;
  return text;
}

function checkField(name: string, value: string): string {
  if (typeof value !== "string" || UNSAFE_IN_FIELD.test(value)) {
    throw new TypeError(
      `${name} is ${JSON.stringify(value)}; an SSE ${name} is text without CR, LF and NUL. Remove them, or put the text into data.`,
    );
  }
  return value;
}

function checkRetry(retry: number): number {
  if (!Number.isSafeInteger(retry) || retry < 0) {
    throw new TypeError(`retry is ${String(retry)}; give a whole number of milliseconds, 0 or more.`);
  }
  return retry;
}
