/** How many pieces are joined at a time. */
const GROUP = 64;

/**
 * A text that arrives in many small pieces.
 *
 * Linear in the text: every piece is joined at most twice, first with its group, so that few small strings are kept,
 * then once for the whole.
 */
export class TextBuilder {
  private _joined: string[] = [];
  private _pieces: string[];

  constructor(start = "") {
    this._pieces = start === "" ? [] : [start];
  }

  add(piece: string): void {
    if (piece === "" || this._pieces.push(piece) < GROUP) return;
    this._joined.push(this._pieces.join(""));
    this._pieces = [];
  }

  /** Whether the text is empty. Joins nothing. */
  get isEmpty(): boolean {
    return this._pieces.length === 0 && this._joined.length === 0;
  }

  text(): string {
    const text = this._joined.join("") + this._pieces.join("");
    this._joined = text === "" ? [] : [text];
    this._pieces = [];
    return text;
  }
}
