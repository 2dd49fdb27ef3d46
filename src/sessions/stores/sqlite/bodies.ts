import { type AgentEvent, describeThrown, type Message } from "#domain";
import { encodeEvent, measureJson } from "#wire";
import { StoreError, type StoreErrorCode } from "../store-error.ts";
import { searchText } from "../thread-rules.ts";
import { writeBody } from "./rows.ts";

/** The content of the column `body` of a row. */
export interface Body {
  readonly text: string;
  readonly bytes: number;
}

/** A message, and its searchable text. */
export interface MessageBody extends Body {
  /** The text, or the part that holds its pieces. */
  readonly search: string | { readonly part: number };
}

/** How a value is refused that cannot be JSON, and what it is. */
export type Refusal = readonly [code: StoreErrorCode, what: string];

/** Longer bodies are stored in pieces. */
const LARGE_CHARACTERS = 262_144;

/** Whether encoding and transferring these at once would block other work for too long. */
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

/** The same for a value of any kind. */
export function isLargeValue(value: unknown): boolean {
  try {
    return measureJson(value, LARGE_CHARACTERS) >= LARGE_CHARACTERS;
  } catch {
    // It contains itself, which is reported when it is encoded.
    return false;
  }
}

/**
 * Encodes all events at once.
 * @throws StoreError `invalid-event` for a value that cannot be JSON.
 */
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

/** Text that is only searched: without the NUL characters, which SQLite does not handle. */
export function plain(text: string): string {
  return text.replaceAll("\0", " ");
}

export function unwritable(
  runId: string,
  error: unknown,
  [code, what]: Refusal = ["invalid-event", "An event"],
): StoreError {
  return new StoreError(code, `${what} of run ${runId} cannot be written: ${describeThrown(error)}`, { cause: error });
}
