import { type AgentEvent, describeThrown, type Message } from "#domain";
import { encodeEvent, measureJson } from "#wire";
import { StoreError } from "../store-error.ts";
import { searchText } from "../thread-rules.ts";
import { writeBody } from "./rows.ts";

/** What stands in the column `body` of a row. */
export interface Body {
  readonly text: string;
  readonly bytes: number;
}

/** A message, and what of it is found by a search. */
export interface MessageBody extends Body {
  /** The text, or the part whose pieces it is. */
  readonly search: string | { readonly part: number };
}

/** More characters than these are stored in pieces. */
const LARGE_CHARACTERS = 262_144;

/** Whether encoding these in one go, and handing them over, would keep others waiting. */
export function isLarge(events: readonly AgentEvent[], messages: readonly Message[] = []): boolean {
  let characters = messages.length === 0 ? 0 : measureJson(messages, LARGE_CHARACTERS);
  for (const event of events) {
    if (characters >= LARGE_CHARACTERS) return true;
    if (event.type === "text-delta" || event.type === "thinking-delta") characters += event.text.length;
    else if (event.type === "tool-input-delta") characters += event.json.length;
    else characters += measureJson(event, LARGE_CHARACTERS);
  }
  return characters >= LARGE_CHARACTERS;
}

/** Encoded at once. @throws StoreError `invalid-event` for what cannot be JSON. */
export function encodeAll(runId: string, events: readonly AgentEvent[]): readonly string[] {
  try {
    return events.map(encodeEvent);
  } catch (error) {
    throw unwritable(runId, error);
  }
}

export function encodeBody(value: unknown): Body {
  const text = writeBody(value);
  return { text, bytes: Buffer.byteLength(text) };
}

export function encodeMessage(message: Message): MessageBody {
  return { ...encodeBody(message), search: searchOf(message) };
}

export function searchOf(message: Message): string {
  return plain(searchText(message));
}

/** Text to be searched only: what SQLite would stumble over is left out. */
export function plain(text: string): string {
  return text.replaceAll("\0", " ");
}

export function unwritable(runId: string, error: unknown): StoreError {
  const message = `An event of run ${runId} cannot be written: ${describeThrown(error)}`;
  return new StoreError("invalid-event", message, { cause: error });
}
