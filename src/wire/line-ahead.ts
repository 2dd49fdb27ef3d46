import { viewBytes } from "./bytes.ts";
import type { Parsed } from "./json.ts";
import { JsonReader } from "./json-reader.ts";
import { createStrictDecoder } from "./utf8.ts";

/** A line that is longer is read as JSON while it arrives. */
export const LONG_LINE = 262_144;

/** Reads a long line as JSON while it arrives, so that its end costs no more than its last piece. */
export class LineAhead {
  private readonly _decoder = createStrictDecoder();
  private readonly _reader = new JsonReader();
  private _at: number;
  private _isText = true;

  /** The JSON begins here. */
  constructor(start: number) {
    this._at = start;
  }

  /** The line has come up to `end`. */
  readTo(line: Uint8Array, end: number): void {
    if (!this._isText || end <= this._at) return;
    try {
      this._reader.push(this._decoder.decode(viewBytes(line, this._at, end), { stream: true }));
      this._at = end;
    } catch {
      this._isText = false;
    }
  }

  /** What the line is as JSON, now that it has come to its end. `undefined` when it is not UTF-8. */
  end(): Parsed | undefined {
    return this._isText ? this._reader.end() : undefined;
  }
}
