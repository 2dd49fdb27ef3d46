import type { AgentEvent, EventType, Raw } from "#domain";
import { decodeBase64, encodeBase64, EVENT_FAMILIES } from "#domain";
import { isSameBytes } from "./bytes.ts";
import { findEventFault } from "./event-fields.ts";
import type { JsonRecord } from "./json.ts";
import { cutJson, encodeInSlices, type LongText } from "./json-slices.ts";
import { isRecord, ownString, ownValue, parseJson } from "./json.ts";

/** The written form of `raw`: with the bytes only if they are not the UTF-8 of `json`. */
interface WrittenRaw {
  readonly json: string;
  readonly base64?: string;
}

/**
 * An event as one line of JSON, without a line end. `raw` is written with its exact bytes, as base64 if they are not
 * the UTF-8 of its text.
 *
 * Throws a `TypeError` only for a value that cannot be JSON at all (a BigInt, a cycle), which is not a valid event.
 *
 * @example
 * const line = `${encodeEvent(event)}\n`;
 */
export function encodeEvent(event: AgentEvent): string {
  // Few events carry their frame; the others are written as they are.
  return event.raw === undefined ? JSON.stringify(event) : JSON.stringify({ ...event, raw: writeRaw(event.raw) });
}

/** `encodeEvent` in pieces, for large events: joined, they are the same text. */
export function encodeEventInSlices(event: AgentEvent): Generator<string, undefined> {
  return encodeInSlices(writable(event));
}

/** The same, with long strings left unencoded. */
export function cutEvent(event: AgentEvent): Generator<string | LongText, undefined> {
  return cutJson(writable(event));
}

function writable(event: AgentEvent): unknown {
  return event.raw === undefined ? event : { ...event, raw: writeRaw(event.raw) };
}

/** The decoded event, or the reason why there is none. */
export type DecodedEvent =
  | { readonly event: AgentEvent; readonly fault?: never }
  | { readonly fault: string; readonly event?: never };

/**
 * Decodes the output of `encodeEvent`. Never throws, whatever the text. Checks type, number, time and run, and that the
 * fields of the type exist and have the right kind.
 *
 * @example
 * const decoded = decodeEvent(line);
 * if (decoded.fault === undefined) show(decoded.event);
 */
export function decodeEvent(text: string): DecodedEvent {
  const parsed = parseJson(text);
  if (parsed.fault !== undefined) return { fault: `The event is not JSON: ${parsed.fault}` };
  return decodeEventValue(parsed.value);
}

/** The same for JSON that is already parsed. The value itself becomes the event. */
export function decodeEventValue(record: unknown): DecodedEvent {
  if (!isRecord(record)) return { fault: "The event is not a JSON object." };
  const type = ownString(record, "type");
  if (type === undefined || !isEventType(type)) {
    return {
      fault: `The event's type is ${JSON.stringify(ownValue(record, "type")) ?? "missing"}, which is not a known event type.`,
    };
  }
  const fault = findEventFault(record, type);
  if (fault !== undefined) return { fault };
  return readRaw(record);
}

function readRaw(record: JsonRecord): DecodedEvent {
  const written = ownValue(record, "raw");
  if (written === undefined) return { event: record as unknown as AgentEvent };
  const json = isRecord(written) ? ownString(written, "json") : undefined;
  if (!isRecord(written) || json === undefined)
    return { fault: "The event's raw is not an object with a string json." };
  const base64 = ownValue(written, "base64");
  const bytes =
    base64 === undefined
      ? new TextEncoder().encode(json)
      : typeof base64 === "string"
        ? decodeBase64(base64)
        : undefined;
  if (bytes === undefined) return { fault: "The event's raw.base64 is not base64." };
  const raw: Raw = { json, bytes };
  return { event: { ...record, raw } as unknown as AgentEvent };
}

function writeRaw(raw: Raw): WrittenRaw {
  const { json, bytes } = raw;
  const plain = new TextEncoder().encode(json);
  return isSameBytes(bytes, 0, bytes.length, plain) ? { json } : { json, base64: encodeBase64(bytes) };
}

function isEventType(type: string): type is EventType {
  return Object.hasOwn(EVENT_FAMILIES, type);
}
