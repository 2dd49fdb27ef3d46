/** Pieces are joined in heaps of this many. */
const HEAP = 256;

/**
 * A text that arrives in many small pieces.
 *
 * Linear in the text: every piece is joined at most twice, first with its heap, so that the small strings die young
 * (keeping 50 000 of them alive costs a garbage collector as much as parsing them), then once for the whole.
 *
 * A class, as everything that is called once per delta: closures are optimised anew for every stream they serve.
 */
export class TextPile {
  readonly #heaps: string[];
  #pieces: string[] = [];

  constructor(start = "") {
    this.#heaps = start === "" ? [] : [start];
  }

  add(piece: string): void {
    if (this.#pieces.push(piece) < HEAP) return;
    this.#heaps.push(this.#pieces.join(""));
    this.#pieces = [];
  }

  get isEmpty(): boolean {
    return this.#heaps.length === 0 && this.#pieces.length === 0;
  }

  text(): string {
    if (this.#pieces.length > 0 || this.#heaps.length > 1) {
      const text = this.#heaps.join("") + this.#pieces.join("");
      this.#heaps.length = 0;
      this.#heaps.push(text);
      this.#pieces = [];
    }
    return this.#heaps[0] ?? "";
  }
}
