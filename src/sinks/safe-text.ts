// Characters that a terminal interprets or does not show: C0 except tab and newline, DEL, C1, marks that change the
// writing direction, and invisible characters. With these a text could move the cursor, overwrite earlier output, set
// the title, write the clipboard, or hide something from the reader.
const UNSAFE =
  "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
  "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb";
/** Characters of plane 14: a second, invisible alphabet. */
const INVISIBLE_PLANE = "[\\udb40-\\udb43][\\udc00-\\udfff]";

const NEEDS_A_LOOK = new RegExp(`[${UNSAFE}\\ud800-\\udfff]`);
const IS_UNSAFE = new RegExp(`[${UNSAFE}]`);
const TO_ESCAPE = new RegExp(`[${UNSAFE}]|${INVISIBLE_PLANE}`, "g");

const ESCAPE = 0x1b;
const CODE_START = 0x9b;
const BRACKET = 0x5b;
const COLOR_END = 0x6d;
const NOT_A_CHARACTER = "\ufffd";
/** A colour code with more parameters than any terminal accepts is shown as text. */
const MAX_CODE = 32;

/** Filters untrusted text that arrives in pieces. */
export interface SafeText {
  /** Returns the safe part of the input so far. The result does not depend on how the text is cut. */
  push(text: string): string;
  /** Returns what was held back. The filter can be used again afterwards. */
  end(): string;
}

/**
 * Makes untrusted text safe for a terminal: it prints exactly the visible characters and has no other effect.
 *
 * Single characters are removed, so that the words inside an escape sequence stay visible; only colour codes, which
 * contain no words, are removed as a whole. Joiners stay where scripts and pictures need them. Linear time.
 *
 * @example
 * plainText("\u001b]0;title\u0007Hello \u001b[31mred\u001b[0m") // "]0;titleHello red"
 */
export function plainText(text: string): string {
  if (!NEEDS_A_LOOK.test(text)) return text;
  const safe = createSafeText();
  return safe.push(text) + safe.end();
}

/**
 * `plainText` for text in pieces: a sequence that is split over several pieces is handled like a whole one, and no
 * character is split.
 *
 * @example
 * const safe = createSafeText()
 * for await (const text of run("offline", "Hello").text()) process.stdout.write(safe.push(text))
 * process.stdout.write(safe.end())
 */
export function createSafeText(): SafeText {
  const filter = new Filter();
  return { push: (text) => filter.push(text), end: () => filter.end() };
}

/** Escapes such characters in JSON text; the value stays the same. */
export function escapeUnsafe(json: string): string {
  if (!NEEDS_A_LOOK.test(json)) return json;
  return json.replace(TO_ESCAPE, (found) =>
    [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}

class Filter {
  /** The parameters of a possible colour code, with its bracket. */
  private _held = "";
  private _state: "text" | "escape" | "code" = "text";
  /** The first half of a surrogate pair whose second half has not arrived yet. */
  private _half = 0;
  /** The last character that passed. */
  private _last = 0;

  push(text: string): string {
    if (this._state === "text" && this._half === 0 && !NEEDS_A_LOOK.test(text)) {
      if (text !== "") this._last = text.charCodeAt(text.length - 1);
      return text;
    }
    let safe = "";
    for (let at = 0; at < text.length; at += 1) safe += this._take(text.charCodeAt(at));
    return safe;
  }

  end(): string {
    const rest = this._held + (this._half === 0 ? "" : NOT_A_CHARACTER);
    this._held = "";
    this._state = "text";
    this._half = 0;
    this._last = 0;
    return rest;
  }

  private _take(unit: number): string {
    if (this._half !== 0) return this._finishPair(unit);
    if (this._state === "escape") {
      this._state = "text";
      if (unit === BRACKET) return this._hold("[");
    } else if (this._state === "code") {
      if (isParameter(unit) && this._held.length < MAX_CODE) return this._hold(String.fromCharCode(unit));
      const shown = this._held;
      this._held = "";
      this._state = "text";
      if (unit === COLOR_END) return "";
      if (shown !== "") this._last = shown.charCodeAt(shown.length - 1);
      return shown + this._take(unit);
    }
    return this._takeText(unit);
  }

  private _hold(text: string): string {
    this._state = "code";
    this._held += text;
    return "";
  }

  private _takeText(unit: number): string {
    if (unit === ESCAPE) this._state = "escape";
    else if (unit === CODE_START) this._state = "code";
    else if (isHighHalf(unit)) this._half = unit;
    else if (isLowHalf(unit)) return this._pass(0xfffd, NOT_A_CHARACTER);
    else if (unit === 0x2028 || unit === 0x2029) return this._pass(0x0a, "\n");
    else if (this._mayPass(unit)) return this._pass(unit, String.fromCharCode(unit));
    return "";
  }

  private _finishPair(unit: number): string {
    const high = this._half;
    this._half = 0;
    if (!isLowHalf(unit)) return this._pass(0xfffd, NOT_A_CHARACTER) + this._take(unit);
    if (high >= 0xdb40 && high <= 0xdb43) return "";
    return this._pass(unit, String.fromCharCode(high, unit));
  }

  private _pass(unit: number, text: string): string {
    this._last = unit;
    return text;
  }

  private _mayPass(unit: number): boolean {
    const last = this._last;
    // Persian, Indic scripts and pictures need joiners; between Latin letters they are just invisible.
    if (unit === 0x200c || unit === 0x200d) return last >= 0x80 && last !== 0x200c && last !== 0x200d;
    // Variation selectors ("as a picture", "as text"): once, and only after a character they can apply to.
    if (unit === 0xfe0e || unit === 0xfe0f) {
      const isAfterMark = last === 0x200c || last === 0x200d || last === 0xfe0e || last === 0xfe0f;
      return (last >= 0x80 && !isAfterMark) || isKeycap(last);
    }
    return !IS_UNSAFE.test(String.fromCharCode(unit));
  }
}

function isParameter(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x3b;
}

function isKeycap(unit: number): boolean {
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x23 || unit === 0x2a;
}

function isHighHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
