import { JsonReader, LONG_JSON, type ParsedJson, TextBuilder } from "#domain";
import { parseJson } from "./json.ts";

/**
 * Parses JSON text that arrives in pieces. A long text is parsed while it arrives, so that its end costs no more than
 * its last piece.
 */
export class JsonAhead {
  private _length = 0;
  private _reader: JsonReader | undefined;
  private _parsed: ParsedJson | undefined;

  /** Adds the next piece; `whole` returns the text up to and including it. */
  add(piece: string, whole: () => string): void {
    this._length += piece.length;
    if (this._parsed !== undefined) {
      // The text was parsed before it was complete, and is parsed again.
      this._parsed = undefined;
      this._reader = undefined;
    }
    if (this._reader !== undefined) this._reader.push(piece);
    else if (this._length > LONG_JSON) {
      this._reader = new JsonReader();
      this._reader.push(whole());
    }
  }

  /** The text as JSON. It is parsed once, however often this is called. */
  parse(whole: () => string): ParsedJson {
    this._parsed ??= this._reader === undefined ? parseJson(whole()) : this._reader.end();
    return this._parsed;
  }
}

/** A text that arrives in many small pieces, and its JSON value. */
export class JsonBuilder extends TextBuilder {
  private readonly _ahead = new JsonAhead();
  private readonly _whole = (): string => this.text();

  override add(piece: string): void {
    super.add(piece);
    this._ahead.add(piece, this._whole);
  }

  parse(): ParsedJson {
    return this._ahead.parse(this._whole);
  }
}
