import { FrameTexts } from "./frame-texts.ts";
import type { SecretMatcher } from "./matcher.ts";
import { findShapes } from "./shapes.ts";
import { joinSpans, type Span } from "./span.ts";
import { readForms } from "./text-mask.ts";

/** A piece of a stream that will be written to a tape. Its bytes may still change until it is settled. */
export interface HeldPiece {
  readonly bytes: Uint8Array;
  /** No later bytes can turn a part of this piece into a secret. */
  readonly isSettled: boolean;
}

/** Masks the secrets of a stream, including those that are split between pieces or spread over several frames. */
export interface StreamMask {
  push(bytes: Uint8Array): HeldPiece;
  /** Settles everything. `isOver` false: more follows, but everything so far has to be written now. */
  settle(isOver: boolean): void;
}

/** How much may still become a secret: a name, the beginning of its value, or the beginning of a known value. */
const HELD_BYTES = 4096;
/** The longest token that is held back as a whole. */
const LONGEST_TOKEN = 16_384;
/** Room for the name before a value. */
const NAME_BYTES = 128;
/** If a tail has to be written early, a token at its end is masked from this length on. */
const SUSPICIOUS_TAIL = 4;

const MASK_BYTE = 0x2a;
const TOKEN = /[A-Za-z0-9._~+/=%-]/;

/**
 * Creates a mask for one stream. `matcher` returns the matcher for the secrets known so far, with one character per
 * byte.
 */
export function createStreamMask(matcher: () => SecretMatcher): StreamMask {
  return new ByteMask(matcher);
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
  private readonly _matcher: () => SecretMatcher;
  // One character per byte, whatever the encoding of the stream.
  private readonly _decoder = new TextDecoder("latin1");
  private readonly _frames = new FrameTexts();
  private _pieces: Held[] = [];
  /**
   * The undecided text, with one decided character before it for lookbehinds, and everything from which on a form may
   * have begun.
   */
  private _text = "";
  private _textStart = 0;
  /** Up to here, the text alone contains no unmasked secret; joined with later frames it still may. */
  private _decided = 0;
  /** From here on a form may have begun that is broken over lines. */
  private _openFrom = 0;
  private _end = 0;
  private _lineStart = 0;
  /** The last secret was masked before its end was seen: whatever follows without a space belongs to it. */
  private _goesOn = false;

  constructor(matcher: () => SecretMatcher) {
    this._matcher = matcher;
  }

  push(bytes: Uint8Array): HeldPiece {
    const piece = new Held(bytes.slice(), this._end);
    this._pieces.push(piece);
    this._text += this._decoder.decode(piece.bytes);
    this._end += piece.bytes.length;
    this._takeLines();
    if (this._goesOn) this._coverRest();
    const spans = this._find();
    this._decide(this._firstOpen(spans), spans);
    return piece;
  }

  settle(isOver: boolean): void {
    if (isOver) this._takeLine(this._end);
    for (const span of this._frames.tear()) this._cover(span);
    if (isOver) this._frames.clear();
    const spans = [...this._find()];
    const { length } = this._text;
    const start = this._tokenStart(length, this._decided - this._textStart);
    if (!isOver && length - start >= SUSPICIOUS_TAIL) {
      spans.push({ start, end: length });
      this._goesOn = true;
    }
    if (!isOver) spans.push(...this._openWords());
    this._decide(length, joinSpans(spans));
    for (const piece of this._pieces.splice(0)) piece.isSettled = true;
  }

  private _find(): readonly Span[] {
    const { found, cut, openFrom } = readForms(this._text, this._matcher());
    this._openFrom = this._textStart + openFrom;
    // What is found stays found. The lines of a broken form may be decided one after the other.
    for (const { start, end } of found) this._cover({ start: start + this._textStart, end: end + this._textStart });
    return joinSpans([...found, ...cut, ...findShapes(this._text)]);
  }

  /** What is between the breaks of a form that has begun, if it is long enough to be one. */
  private _openWords(): readonly Span[] {
    const start = this._openFrom - this._textStart;
    if (this._text.length - start < SUSPICIOUS_TAIL) return [];
    const words = this._text.slice(start).matchAll(/\S+/g);
    return Array.from(words, ({ index, 0: word }) => ({ start: start + index, end: start + index + word.length }));
  }

  private _takeLines(): void {
    for (;;) {
      const from = Math.max(0, this._lineStart - this._textStart);
      const end = this._text.indexOf("\n", from);
      if (end === -1) return;
      this._takeLine(this._textStart + end);
      this._lineStart = this._textStart + end + 1;
    }
  }

  /** A line that is too long to be held as a whole is not treated as part of a text: it is only searched by itself. */
  private _takeLine(end: number): void {
    if (this._lineStart < this._textStart || this._lineStart >= end) return;
    const line = this._text.slice(this._lineStart - this._textStart, end - this._textStart);
    for (const span of this._frames.takeLine(line, this._lineStart, this._matcher())) this._cover(span);
  }

  /** The position in the text of the first byte that may still become part of a secret. */
  private _firstOpen(spans: readonly Span[]): number {
    const { length } = this._text;
    let open = length - HELD_BYTES;
    if (open > 0) open = this._tokenStart(open, length - LONGEST_TOKEN) - NAME_BYTES;
    open = Math.max(open, this._text.lastIndexOf("\n") + 1, this._decided - this._textStart);
    const openForm = this._openFrom - this._textStart;
    if (length - openForm <= LONGEST_TOKEN) open = Math.min(open, openForm);
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
    let at = this._decided - this._textStart;
    const start = at;
    while (at < this._text.length && TOKEN.test(this._text.charAt(at))) at += 1;
    this._goesOn = at === this._text.length;
    this._decide(at, [{ start, end: at }]);
  }

  private _decide(at: number, spans: readonly Span[]): void {
    for (const { start, end } of spans) {
      if (start < at) this._cover({ start: start + this._textStart, end: end + this._textStart });
    }
    this._decided = Math.max(this._decided, this._textStart + at);
    const settled = Math.min(this._decided, this._frames.openFrom);
    const isOpen = (piece: Held): boolean => piece.start + piece.bytes.length > settled;
    for (const piece of this._pieces) piece.isSettled = !isOpen(piece);
    this._pieces = this._pieces.filter(isOpen);
    const kept = Math.max(0, Math.min(this._decided - 1, this._openFrom) - this._textStart);
    this._text = this._text.slice(kept);
    this._textStart += kept;
  }

  /** Masks a range of the stream, as far as it was not written yet. */
  private _cover({ start, end }: Span): void {
    for (const piece of this._pieces) {
      const from = Math.max(0, start - piece.start);
      const to = Math.min(piece.bytes.length, end - piece.start);
      if (from < to) piece.bytes.fill(MASK_BYTE, from, to);
    }
  }
}
