import { JsonReader, type ParsedJson } from "#domain";
import { viewBytes } from "./bytes.ts";
import { createStrictDecoder } from "./utf8.ts";

/** A longer line is parsed as JSON while it arrives. */
export const LONG_LINE = 262_144;

/** Parses a long line as JSON while it arrives, so that its end costs no more than its last piece. */
export class LineAhead {
  private readonly _decoder = createStrictDecoder();
  private readonly _reader = new JsonReader();
  private _at: number;
  private _isText = true;

  /** `start`: where the JSON begins in the line. */
  constructor(start: number) {
    this._at = start;
  }

  /** The line has arrived up to `end`. */
  readTo(line: Uint8Array, end: number): void {
    if (!this._isText || end <= this._at) return;
    try {
      this._reader.push(this._decoder.decode(viewBytes(line, this._at, end), { stream: true }));
      this._at = end;
    } catch {
      this._isText = false;
    }
  }

  /** The complete line as JSON; `undefined` if it is not UTF-8. */
  end(): ParsedJson | undefined {
    return this._isText ? this._reader.end() : undefined;
  }
}
