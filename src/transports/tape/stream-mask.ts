import { findSecrets, type Span } from "./secret-shapes.ts";

/** A piece of a stream on its way to a tape. Its bytes may still change until it is settled. */
export interface HeldPiece {
  readonly bytes: Uint8Array;
  /** Nothing that comes later can turn a part of this piece into a secret. */
  readonly isSettled: boolean;
}

/** Covers the secrets of a stream, wherever it is cut. */
export interface StreamMask {
  push(bytes: Uint8Array): HeldPiece;
  /** Settles everything. `isOver` false: more comes, but what was given so far has to be written now. */
  settle(isOver: boolean): void;
}

/** What may still become a secret: a name, its value's beginning, or the beginning of a known value. */
const HELD_BYTES = 1536;
/** The longest stretch without a blank that is held as a whole. */
const LONGEST_TOKEN = 16_384;
/** Room for the name in front of a value. */
const NAME_BYTES = 128;
/** A tail that has to be written early is covered from so many characters of a token on. */
const SUSPICIOUS_TAIL = 4;

const MASK_BYTE = 0x2a;
const TOKEN = /[A-Za-z0-9._~+/=%-]/;

/** Creates a mask for one stream. `values` gives the known secrets, one character per byte. */
export function createStreamMask(values: () => readonly string[]): StreamMask {
  return new ByteMask(values);
}

class Held implements HeldPiece {
  readonly bytes: Uint8Array;
  readonly start: number;
  isSettled = false;

  constructor(bytes: Uint8Array, start: number) {
    this.bytes = bytes;
    this.start = start;
  }
}

class ByteMask implements StreamMask {
  private readonly _values: () => readonly string[];
  // One character per byte, whatever the encoding of the stream is.
  private readonly _decoder = new TextDecoder("latin1");
  private _pieces: Held[] = [];
  /** What is not settled, with one settled character in front of it for the look-behinds. */
  private _text = "";
  private _textStart = 0;
  private _settled = 0;
  private _end = 0;
  /** The last secret was covered before its end was seen: what goes on without a blank belongs to it. */
  private _goesOn = false;

  constructor(values: () => readonly string[]) {
    this._values = values;
  }

  push(bytes: Uint8Array): HeldPiece {
    const piece = new Held(bytes.slice(), this._end);
    this._pieces.push(piece);
    this._text += this._decoder.decode(piece.bytes);
    this._end += piece.bytes.length;
    if (this._goesOn) this._coverRest();
    const spans = findSecrets(this._text, this._values());
    this._settleTo(this._firstOpen(spans), spans);
    return piece;
  }

  settle(isOver: boolean): void {
    if (this._settled === this._end) return;
    const spans = [...findSecrets(this._text, this._values())];
    if (!isOver) {
      const { length } = this._text;
      const start = this._tokenStart(length, 0);
      if (length - start >= SUSPICIOUS_TAIL) {
        spans.push({ start, end: length });
        this._goesOn = true;
      }
    }
    this._settleTo(this._text.length, spans);
  }

  /** Where in the text the first byte stands that may still become part of a secret. */
  private _firstOpen(spans: readonly Span[]): number {
    const { length } = this._text;
    let open = length - HELD_BYTES;
    if (open > 0) open = this._tokenStart(open, length - LONGEST_TOKEN) - NAME_BYTES;
    open = Math.max(open, this._text.lastIndexOf("\n") + 1, this._settled - this._textStart);
    for (const span of spans) {
      const mayGrow = span.end === length;
      if (span.start >= open || (!mayGrow && span.end <= open)) continue;
      if (length - span.start <= LONGEST_TOKEN) open = Math.min(open, span.start);
      else if (mayGrow) {
        this._goesOn = true;
        open = length;
      }
    }
    return open;
  }

  private _tokenStart(from: number, floor: number): number {
    let at = from;
    while (at > Math.max(0, floor) && TOKEN.test(this._text.charAt(at - 1))) at -= 1;
    return at;
  }

  private _coverRest(): void {
    let at = this._settled - this._textStart;
    const start = at;
    while (at < this._text.length && TOKEN.test(this._text.charAt(at))) at += 1;
    this._goesOn = at === this._text.length;
    this._cover({ start, end: at });
    this._settleTo(at, []);
  }

  private _settleTo(at: number, spans: readonly Span[]): void {
    for (const span of spans) if (span.start < at) this._cover(span);
    this._settled = Math.max(this._settled, this._textStart + at);
    const isOpen = (piece: Held): boolean => piece.start + piece.bytes.length > this._settled;
    for (const piece of this._pieces) piece.isSettled = !isOpen(piece);
    this._pieces = this._pieces.filter(isOpen);
    const kept = Math.max(0, this._settled - this._textStart - 1);
    this._text = this._text.slice(kept);
    this._textStart += kept;
  }

  private _cover({ start, end }: Span): void {
    for (const piece of this._pieces) {
      const from = Math.max(0, this._textStart + start - piece.start);
      const to = Math.min(piece.bytes.length, this._textStart + end - piece.start);
      if (from < to) piece.bytes.fill(MASK_BYTE, from, to);
    }
  }
}
