import type { Message } from "#domain";
import { type RequestText, writeValues } from "./request-text.ts";
import { PrefixMemory } from "./transcript.ts";

/** One message in a vendor's words, and the same as JSON. */
export interface Encoded<Part extends object = object> {
  readonly parts: readonly Part[];
  /** The parts behind each other, with commas between them and no brackets around them. */
  readonly json: RequestText;
}

/** Parts as they go on the wire. */
export function encoded<Part extends object>(parts: readonly Part[]): Encoded<Part> {
  return { parts, json: writeValues(parts) };
}

/**
 * What a backend has already put into its vendor's words and into JSON. Messages never change, so what was made of one
 * holds as long as it lives.
 */
export class EncodedTranscript<Written = RequestText> {
  /** What was written of a transcript so far: a text, or whatever its vendor needs to go on with it. */
  readonly written = new PrefixMemory<Written>();
  private readonly _known = new WeakMap<Message, Encoded>();

  /** The message in the vendor's words. `encode` must look at nothing but the message. */
  encode<Part extends object>(message: Message, encode: (message: Message) => readonly Part[]): Encoded<Part> {
    return (this._known.get(message) as Encoded<Part> | undefined) ?? this._add(message, encoded(encode(message)));
  }

  private _add<Part extends object>(message: Message, made: Encoded<Part>): Encoded<Part> {
    this._known.set(message, made);
    return made;
  }
}
