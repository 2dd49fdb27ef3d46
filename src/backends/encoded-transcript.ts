import type { Message } from "#domain";

/**
 * What a backend has already put into its vendor's words and into JSON. A model is shown the whole conversation in
 * every turn; with this, a turn costs what is new in it, and the rest is copied. Messages never change, so what was
 * made of one holds as long as it lives.
 */
export class EncodedTranscript {
  private readonly _parts = new WeakMap<Message, readonly object[]>();
  private readonly _texts = new WeakMap<object, string>();

  /** The message in the vendor's words. `encode` must look at nothing but the message. */
  encode<Part extends object>(message: Message, encode: (message: Message) => readonly Part[]): readonly Part[] {
    const known = this._parts.get(message);
    if (known !== undefined) return known as readonly Part[];
    const parts = encode(message);
    this._parts.set(message, parts);
    return parts;
  }

  /** A list as JSON. Its values are taken for what they were when they were written first. */
  write(values: readonly object[]): string {
    const texts = values.map((value) => {
      let text = this._texts.get(value);
      if (text === undefined) {
        text = JSON.stringify(value);
        this._texts.set(value, text);
      }
      return text;
    });
    return `[${texts.join(",")}]`;
  }
}

/** The body of a request: fields, and one more whose JSON is already written. */
export function writeBody(fields: Readonly<Record<string, unknown>>, name: string, json: string): string {
  const text = JSON.stringify(fields);
  return `${text.slice(0, -1)}${text === "{}" ? "" : ","}${JSON.stringify(name)}:${json}}`;
}
