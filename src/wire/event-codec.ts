import type { AgentEvent, EventType, Raw } from "#domain";
import { EVENT_FAMILIES } from "#domain";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { isSameBytes } from "./bytes.ts";
import { findEventFault } from "./event-fields.ts";
import type { JsonRecord } from "./json.ts";
import { cutJson, encodeInSlices, type LongText } from "./json-slices.ts";
import { isRecord, ownString, ownValue, parseJson } from "./json.ts";

/** `raw` as it is written: the bytes only when they are not simply the UTF-8 of `json`. */
interface WrittenRaw {
  readonly json: string;
  readonly base64?: string;
}

/**
 * An event as one line of JSON, without a line end. `raw` is written with its exact bytes, as base64 where they are
 * not simply the UTF-8 of its text.
 *
 * Throws a `TypeError` only for what cannot be JSON at all (a BigInt, a cycle) and was no event.
 *
 * @example
 * const line = `${encodeEvent(event)}\n`;
 */
export function encodeEvent(event: AgentEvent): string {
  // Almost no event carries its frame; those that do not are written as they are.
  return event.raw === undefined ? JSON.stringify(event) : JSON.stringify({ ...event, raw: writeRaw(event.raw) });
}

/** `encodeEvent` in pieces, for events that are large: together they are the same text. */
export function encodeEventInSlices(event: AgentEvent): Generator<string, undefined> {
  return encodeInSlices(writable(event));
}

/** The same, with long texts left as they are. */
export function cutEvent(event: AgentEvent): Generator<string | LongText, undefined> {
  return cutJson(writable(event));
}

function writable(event: AgentEvent): unknown {
  return event.raw === undefined ? event : { ...event, raw: writeRaw(event.raw) };
}

/** What became of a text: the event, or why it is none. */
export type DecodedEvent =
  | { readonly event: AgentEvent; readonly fault?: never }
  | { readonly fault: string; readonly event?: never };

/**
 * Reads what `encodeEvent` wrote. Never throws, whatever the text. Type, number, time and run are checked, and that
 * the fields of the type are there and of the right kind.
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

/** The same for a text that was parsed already. The value becomes the event. */
export function decodeEventValue(record: unknown): DecodedEvent {
  if (!isRecord(record)) return { fault: "The event is not a JSON object." };
  const type = ownString(record, "type");
  if (type === undefined || !isEventType(type)) {
    return {
      fault: `The event's type is ${JSON.stringify(ownValue(record, "type")) ?? "missing"}, which is none of ours.`,
    };
  }
  const fault = findEventFault(record, type);
  if (fault !== undefined) return { fault };
  return readRaw(record);
}

function readRaw(record: JsonRecord): DecodedEvent {
  const written = ownValue(record, "raw");
  const event = record as unknown as AgentEvent;
  if (written === undefined) return { event };
  const json = isRecord(written) ? ownString(written, "json") : undefined;
  if (!isRecord(written) || json === undefined) return { fault: "The event's raw is not an object with a text json." };
  const base64 = ownValue(written, "base64");
  const bytes =
    base64 === undefined
      ? new TextEncoder().encode(json)
      : typeof base64 === "string"
        ? decodeBase64(base64)
        : undefined;
  if (bytes === undefined) return { fault: "The event's raw.base64 is not base64." };
  const raw: Raw = { json, bytes };
  (record as { raw: unknown }).raw = raw;
  return { event };
}

function writeRaw(raw: Raw): WrittenRaw {
  const { json, bytes } = raw;
  const plain = new TextEncoder().encode(json);
  return isSameBytes(bytes, 0, bytes.length, plain) ? { json } : { json, base64: encodeBase64(bytes) };
}

function isEventType(type: string): type is EventType {
  return Object.hasOwn(EVENT_FAMILIES, type);
}
