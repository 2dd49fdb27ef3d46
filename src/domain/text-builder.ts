/** Pieces are joined in heaps of this many. */
const HEAP = 64;

/**
 * A text that arrives in many small pieces.
 *
 * Linear in the text: every piece is joined at most twice, first with its heap, so that the small strings die young
 * (keeping 50 000 of them alive costs a garbage collector as much as parsing them), then once for the whole.
 *
 * A class, as everything that is called once per delta: closures are optimised anew for every stream they serve.
 */
export class TextBuilder {
  // A first text in each, though it be empty, makes them lists of texts: the engine takes an empty list for one of
  // numbers, and code that was optimised for numbers is thrown away.
  private _joined: string[];
  private _pieces: string[] = [""];

  constructor(start = "") {
    this._joined = [start];
  }

  add(piece: string): void {
    if (piece === "" || this._pieces.push(piece) <= HEAP) return;
    this._joined.push(this._pieces.join(""));
    this._pieces = [""];
  }

  /** Whether its text is the empty one. Costs no joining. */
  get isEmpty(): boolean {
    return this._pieces.length === 1 && this._joined.length === 1 && this._joined[0] === "";
  }

  text(): string {
    if (this._pieces.length > 1 || this._joined.length > 1) {
      this._joined = [this._joined.join("") + this._pieces.join("")];
      this._pieces = [""];
    }
    return this._joined[0] as string;
  }
}
