import type { Message } from "#domain";
import { type RequestText, writeValues } from "./request-text.ts";
import { PrefixMemory } from "./transcript.ts";

/** One message encoded for a vendor, as parts and as JSON. */
export interface Encoded<Part extends object = object> {
  readonly parts: readonly Part[];
  /** The parts, separated by commas and without brackets. */
  readonly json: RequestText;
}

/** Encodes parts as JSON. */
export function encoded<Part extends object>(parts: readonly Part[]): Encoded<Part> {
  return { parts, json: writeValues(parts) };
}

/**
 * Caches the messages that a backend has encoded for its vendor. Messages never change, so an encoding stays valid as
 * long as its message exists.
 */
export class EncodedTranscript<Written = RequestText> {
  /** The encoded beginning of a transcript: text, or whatever the vendor's encoder needs to continue it. */
  readonly written = new PrefixMemory<Written>();
  /** The call ids of transcripts whose calls are all valid. */
  readonly checked = new PrefixMemory<Set<string>>();
  private readonly _known = new WeakMap<Message, Encoded>();

  /** The encoded message. `encode` must depend on the message alone. */
  encode<Part extends object>(message: Message, encode: (message: Message) => readonly Part[]): Encoded<Part> {
    return (this._known.get(message) as Encoded<Part> | undefined) ?? this._add(message, encoded(encode(message)));
  }

  private _add<Part extends object>(message: Message, made: Encoded<Part>): Encoded<Part> {
    this._known.set(message, made);
    return made;
  }
}
