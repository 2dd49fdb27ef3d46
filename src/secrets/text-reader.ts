import {
  BACKSLASH,
  beginsEncodedBlank,
  BREAK,
  isEncodedBlank,
  isEscaped,
  kindOf,
  LONGEST_BREAK,
  OTHER,
  PERCENT,
  tokenStart,
} from "./breaks.ts";
import { DigitPositions, MANY_DIGITS } from "./digit-positions.ts";
import type { SecretMatcher } from "./matcher.ts";
import type { Span } from "./span.ts";

const SLASH = 0x2f;
const LETTER_U = 0x75;

/**
 * Reads a text that may come in pieces, and finds the forms of secrets in it. Forms in base64 and hexadecimal may be
 * broken over lines: their digits are read without the breaks.
 */
export class TextReader {
  private readonly _matcher: SecretMatcher;
  /** The end of the text from which on a form may have begun. */
  private _open = "";
  /** Nothing is held back. The states below are then unknown, and `_open` is read again when they are needed. */
  private _isClean = true;
  /** The number of characters read, counted from the beginning of `_open`. */
  private _at = 0;
  private _plain = 0;
  private _encoded = 0;
  /** The digits of the form that has begun. */
  private readonly _digits = new DigitPositions();
  /** The last one or two characters, if they may be the beginning of a break: a backslash, `%`, `%0`, `%2`. */
  private _sign = 0;
  private _digit = 0;
  private _breakLength = 0;

  constructor(matcher: SecretMatcher) {
    this._matcher = matcher;
  }

  /** The end of the text from which on a form may have begun. */
  get open(): string {
    return this._open;
  }

  copy(): TextReader {
    const copy = new TextReader(this._matcher);
    copy.read(this._open);
    return copy;
  }

  /** Reads the next piece if it can be shown unchanged. Otherwise returns `false` and does nothing. */
  takeClean(text: string): boolean {
    if (!this._isClean) return false;
    const all = this._open === "" ? text : this._open + text;
    if (this._matcher.mayBeIn(all)) return false;
    const start = this._matcher.beginningIn(all);
    this._open = start === all.length ? "" : all.slice(start);
    return true;
  }

  /**
   * Reads the next piece. Returns what must be masked, with positions in the piece; they are negative in the pieces
   * before it. The spans may overlap.
   */
  read(text: string): Span[] {
    if (this._isClean) this._readAgain();
    const spans: Span[] = [];
    const before = this._at;
    const all = this._open === "" ? text : this._open + text;
    for (let at = before; at < all.length; at += 1) {
      const code = all.charCodeAt(at);
      if (this._plain + this._encoded + this._sign === 0 && !this._matcher.mayBegin(code)) continue;
      this._readPlain(code, at, spans);
      this._readEncoded(code, at, spans);
    }
    this._at = all.length;
    this._moveTo(all, tokenStart(all, this._firstOpen()));
    this._isClean = this.held === 0;
    return before === 0 ? spans : spans.map(({ start, end }) => ({ start: start - before, end: end - before }));
  }

  /** How many characters at the end of the text must be held back because a form may have begun. */
  get held(): number {
    if (this._isClean) return 0;
    const { plain, encoded } = this._matcher;
    const held = encoded.held[this._encoded] as number;
    let start = Math.min(this._at - (plain.held[this._plain] as number), this._startOf(held));
    if (this._digit !== 0) {
      const more = encoded.held[encoded.step(this._encoded, this._digit)] as number;
      if (more > 0) start = Math.min(start, more === 1 ? this._at - 1 : this._startOf(more - 1));
    }
    return this._at - start;
  }

  /** What must be masked if the text ends here, because a form was cut off: with positions before its end. */
  cut(): readonly Span[] {
    if (this._isClean) return [];
    const { _at: length } = this;
    const spans: Span[] = [];
    if (this._digit !== 0) this._endSign(this._at, spans);
    const plain = this._matcher.plain.cut[this._plain] as number;
    if (plain > 0) spans.push({ start: this._at - plain, end: this._at });
    this._digits.mask(this._matcher.encoded.cut[this._encoded] as number, spans);
    return spans.map(({ start, end }) => ({ start: start - length, end: end - length }));
  }

  /** What is held back, without the breaks in it: with positions before the end of the text. */
  begun(): readonly Span[] {
    if (this._isClean) return [];
    const spans: Span[] = [];
    const { plain, encoded } = this._matcher;
    const length = plain.held[this._plain] as number;
    if (length > 0) spans.push({ start: -length, end: 0 });
    for (const start of this._digits.last(encoded.held[this._encoded] as number)) {
      spans.push({ start: start - this._at, end: start - this._at + 1 });
    }
    if (this._digit !== 0) spans.push({ start: -1, end: 0 });
    return spans;
  }

  private _readAgain(): void {
    this._isClean = false;
    const { _open: open } = this;
    this._open = "";
    this._at = 0;
    this._plain = 0;
    this._forget();
    this._digits.clear();
    this._sign = 0;
    this._digit = 0;
    // Not clean yet, or it would be read again and again.
    if (open !== "") this.read(open);
    this._isClean = false;
  }

  private _readPlain(code: number, at: number, spans: Span[]): void {
    const { plain } = this._matcher;
    this._plain = plain.step(this._plain, code);
    const length = plain.found[this._plain] as number;
    if (length > 0) spans.push({ start: at + 1 - length, end: at + 1 });
  }

  private _readEncoded(code: number, at: number, spans: Span[]): void {
    if (this._sign !== 0 && this._readAfterSign(code, at, spans)) return;
    const kind = kindOf(code);
    if (kind === BREAK) {
      this._takeBreak(1);
      if (code === BACKSLASH || code === PERCENT) this._sign = code;
    } else if (kind === OTHER) this._forget();
    else this._takeDigit(code, at, spans);
  }

  /** Whether the character belongs to a break that began with a backslash or a percent sign. */
  private _readAfterSign(code: number, at: number, spans: Span[]): boolean {
    if (this._sign === BACKSLASH) {
      this._sign = 0;
      if (isEscaped(code)) this._takeBreak(1);
      else if (code === LETTER_U) this._forget();
      // An escaped slash stays visible, because a backslash before an asterisk is not JSON.
      else if (code === SLASH) this._takeDigit(code, at, spans, false);
      else return false;
      return true;
    }
    if (this._digit === 0) {
      if (beginsEncodedBlank(code)) {
        this._digit = code;
        return true;
      }
      this._sign = 0;
      return false;
    }
    if (isEncodedBlank(this._digit, code)) {
      this._sign = 0;
      this._digit = 0;
      this._takeBreak(2);
      return true;
    }
    this._endSign(at, spans);
    return false;
  }

  /** The digit after a percent sign was a digit after all. */
  private _endSign(at: number, spans: Span[]): void {
    const { _digit: digit } = this;
    this._sign = 0;
    this._digit = 0;
    this._takeDigit(digit, at - 1, spans);
  }

  private _takeBreak(length: number): void {
    if (this._encoded === 0) return;
    this._breakLength += length;
    if (this._breakLength > LONGEST_BREAK) this._forget();
  }

  private _takeDigit(code: number, at: number, spans: Span[], isMasked = true): void {
    const { encoded } = this._matcher;
    this._breakLength = 0;
    this._encoded = encoded.step(this._encoded, code);
    if (this._encoded === 0) {
      if (this._digits.length > 0) this._forget();
      return;
    }
    this._digits.add(at, isMasked);
    if (this._digits.length > MANY_DIGITS) this._digits.keep(encoded.depth[this._encoded] as number);
    this._digits.mask(encoded.found[this._encoded] as number, spans);
  }

  private _forget(): void {
    this._encoded = 0;
    this._breakLength = 0;
    this._digits.keep(0);
  }

  private _startOf(digits: number): number {
    return this._digits.startOf(digits, this._at);
  }

  private _firstOpen(): number {
    const { plain, encoded } = this._matcher;
    return Math.min(
      this._at - (plain.depth[this._plain] as number),
      this._startOf(encoded.depth[this._encoded] as number),
      this._sign === 0 ? this._at : this._at - (this._digit === 0 ? 1 : 2),
    );
  }

  /** Forgets the text before this position. */
  private _moveTo(all: string, start: number): void {
    this._open = start === 0 ? all : all.slice(start);
    if (start === 0) return;
    this._at -= start;
    this._digits.keep(this._encoded === 0 ? 0 : (this._matcher.encoded.depth[this._encoded] as number));
    this._digits.moveTo(start);
  }
}
