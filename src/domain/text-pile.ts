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
export class TextPile {
  // A first text in each, though it be empty, makes them lists of texts: the engine takes an empty list for one of
  // numbers, and code that was optimised for numbers is thrown away.
  private _heaps: string[];
  private _pieces: string[] = [""];

  constructor(start = "") {
    this._heaps = [start];
  }

  add(piece: string): void {
    if (piece === "" || this._pieces.push(piece) <= HEAP) return;
    this._heaps.push(this._pieces.join(""));
    this._pieces = [""];
  }

  /** Whether its text is the empty one. Costs no joining. */
  get isEmpty(): boolean {
    return this._pieces.length === 1 && this._heaps.length === 1 && this._heaps[0] === "";
  }

  text(): string {
    if (this._pieces.length > 1 || this._heaps.length > 1) {
      this._heaps = [this._heaps.join("") + this._pieces.join("")];
      this._pieces = [""];
    }
    return this._heaps[0] as string;
  }
}
