import { FormAutomaton, type Kept } from "./automaton.ts";
import {
  BACKSLASH,
  BREAK,
  BREAK_PATTERN,
  kindAt,
  kindOf,
  LONGEST_BREAK,
  OTHER,
  PERCENT,
  tokenStart,
} from "./breaks.ts";
import type { Forms } from "./forms.ts";

/** A text of this length is not searched twice. */
const LONG_TEXT = 65_536;

/** The beginnings of forms are looked up for codes below this. */
const TABLE_SIZE = 128;
const PLAIN = 1;
const ENCODED = 2;

/** How many characters forms keep visible at their beginning: those found as they are, and those in base64 or hexadecimal. */
export interface KeptFirst {
  readonly plain: Kept;
  readonly encoded: Kept;
}

/**
 * A long form keeps its first characters visible, at most three, or as many as three bytes have in base64. They are of
 * no use to an attacker, and otherwise nearly every text would have to be held back at some letter with which one of the
 * forms begins.
 */
export const KEEP_FIRST: KeptFirst = {
  plain: (length) => Math.min(3, Math.floor(length / 8)),
  encoded: (length) => Math.min(4, Math.floor(length / 8)),
};

export const KEEP_NOTHING: KeptFirst = { plain: () => 0, encoded: () => 0 };

/** The forms of secrets, prepared for a search. `TextReader` searches. */
export class SecretMatcher {
  readonly plain: FormAutomaton;
  /** Sees the digits of base64 and hexadecimal only, without the breaks between them. */
  readonly encoded: FormAutomaton;
  readonly isEmpty: boolean;
  /** The beginnings of forms that must not be shown: the characters they keep visible, and one more. */
  private readonly _openings: RegExp;
  private readonly _begins = new Uint8Array(TABLE_SIZE);
  /** The last long text without any: the same text comes as a delta, in its message and in the result. */
  private _clean = "";

  constructor({ plain, encoded }: Forms, kept: KeptFirst = KEEP_NOTHING) {
    this.plain = new FormAutomaton(plain, kept.plain);
    this.encoded = new FormAutomaton(encoded, kept.encoded);
    for (let code = 0; code < TABLE_SIZE; code += 1) {
      const isSign = code === BACKSLASH || code === PERCENT;
      const mayBeEncoded = isSign || this.encoded.step(0, code) > 0;
      this._begins[code] = (this.plain.step(0, code) > 0 ? PLAIN : 0) | (mayBeEncoded ? ENCODED : 0);
    }
    this.isEmpty = plain.length + encoded.length === 0;
    const opening = (form: string, keep: Kept): string => form.slice(0, keep(form.length) + 1);
    this._openings = patternOf(
      plain.map((form) => opening(form, kept.plain)),
      encoded.map((form) => opening(form, kept.encoded)),
    );
  }

  /** `false`: the text contains no form, not even one that its end has cut off. */
  mayBeIn(text: string): boolean {
    if (text.length < LONG_TEXT) return this._openings.test(text);
    if (text === this._clean) return false;
    const isClean = !this._openings.test(text);
    if (isClean) this._clean = text;
    return !isClean;
  }

  /**
   * The position in a text without an opening from which on a form may have begun; its length if none has. Nearly all
   * texts have none, so it has to be fast.
   */
  beginningIn(text: string): number {
    const { length } = text;
    let start = Math.max(0, length - this.plain.reach);
    while (start < length && !this._maybe(text.charCodeAt(start), PLAIN)) start += 1;
    if (start < length) start = tokenStart(text, start);
    // Each break has at most two characters that look like digits.
    const most = this.encoded.reach + 2;
    for (let at = length - 1, digits = 0; at >= 0 && digits <= most; at -= 1) {
      const code = text.charCodeAt(at);
      if (this._maybe(code, ENCODED)) return Math.min(start, this._encodedBeginningIn(text));
      const kind = kindOf(code);
      if (kind === OTHER || length - at > most * LONGEST_BREAK) break;
      if (kind !== BREAK) digits += 1;
    }
    return start;
  }

  /** Whether a form may begin with this character, or a break that consists of several characters. */
  mayBegin(code: number): boolean {
    return this._maybe(code, PLAIN | ENCODED);
  }

  private _maybe(code: number, which: number): boolean {
    return code >= TABLE_SIZE ? (which & PLAIN) !== 0 : ((this._begins[code] as number) & which) !== 0;
  }

  private _encodedBeginningIn(text: string): number {
    let digits = 0;
    let between = 0;
    let at = text.length;
    for (; at > 0 && digits <= this.encoded.reach && between <= LONGEST_BREAK; at -= 1) {
      const kind = kindAt(text, at - 1);
      if (kind === OTHER) break;
      between = kind === BREAK ? between + 1 : 0;
      if (kind !== BREAK) digits += 1;
    }
    return this._hasBegun(text, at) ? at : text.length;
  }

  /** Whether an encoded form has begun after this position, or a break that may go on with the next piece. */
  private _hasBegun(text: string, from: number): boolean {
    let state = 0;
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === BACKSLASH || code === PERCENT) return true;
      if (kindOf(code) !== BREAK) state = this.encoded.step(state, code);
    }
    return state !== 0;
  }
}

/** Matches any of these texts, the encoded ones with breaks in them. Without any text, it matches nothing. */
function patternOf(plain: readonly string[], encoded: readonly string[]): RegExp {
  const escape = (unit: string): string =>
    /[A-Za-z0-9]/.test(unit) ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const patterns = [
    ...plain.map((text) => text.split("").map(escape).join("")),
    ...encoded.map((text) => text.split("").map(escape).join(BREAK_PATTERN)),
  ];
  return new RegExp(patterns.length === 0 ? "(?!)" : [...new Set(patterns)].join("|"));
}
