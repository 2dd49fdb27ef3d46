/** A text that arrives in many small pieces. */
export interface TextPile {
  add(piece: string): void;
  readonly isEmpty: boolean;
  text(): string;
}

/** Pieces are joined in heaps of this many. */
const HEAP = 256;

/**
 * Creates a pile of pieces of text. Linear in the text: every piece is joined at most twice, first with its heap, so
 * that the small strings die young (keeping 50 000 of them alive costs a garbage collector as much as parsing them),
 * then once for the whole.
 */
export function createTextPile(start = ""): TextPile {
  const heaps: string[] = start === "" ? [] : [start];
  let pieces: string[] = [];
  return {
    add(piece) {
      if (pieces.push(piece) < HEAP) return;
      heaps.push(pieces.join(""));
      pieces = [];
    },
    get isEmpty() {
      return heaps.length === 0 && pieces.length === 0;
    },
    text() {
      if (pieces.length > 0 || heaps.length > 1) {
        const text = heaps.join("") + pieces.join("");
        heaps.length = 0;
        heaps.push(text);
        pieces = [];
      }
      return heaps[0] ?? "";
    },
  };
}
