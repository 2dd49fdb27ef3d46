import { TextBuilder } from "#domain";
import { type Parsed, parseJson, TOO_DEEP } from "./json.ts";
import { MAX_JSON_DEPTH } from "./limits.ts";

/** What comes in small pieces is read in rows of this many characters. */
const ROW_CHARACTERS = 16_384;

/** A part of a larger text is a reference to it; one of this length and more is copied, so that the rest can go. */
const COPIED_CHARACTERS = 13;

const SPECIAL = /[\\\u0000-\u001f]/;
const END_OF_WORD = /[\s,:"[\]{}]/g;

/** What may come next. */
type State = "value" | "value-or-end" | "key" | "key-or-end" | "colon" | "comma-or-end" | "over";

/**
 * Reads JSON text as it comes, piece by piece: `JSON.parse` needs the whole text, and with very many members it holds up
 * everything else for as long as that takes. Several times slower than `JSON.parse`, and so for long texts only.
 *
 * @example
 * const reader = new JsonReader()
 * for (const piece of pieces) reader.push(piece)
 * const parsed = reader.end()
 */
export class JsonReader {
  private _waiting = "";
  /** How many characters stand before those that are being read. */
  private _passed = 0;
  private _state: State = "value";
  private readonly _open: (unknown[] | Record<string, unknown>)[] = [];
  private readonly _keys: string[] = [];
  /** A text or another word that a piece has cut in two, as far as it came. */
  private _cut: { readonly kind: "text" | "word"; readonly parts: string[] } | undefined;
  private _value: unknown;
  private _fault: string | undefined;

  push(piece: string): void {
    if (this._fault !== undefined) return;
    this._waiting += piece;
    if (this._waiting.length >= ROW_CHARACTERS) this._readWaiting();
  }

  /** What the whole text is. Nothing may be pushed afterwards. */
  end(): Parsed {
    // A word ends where the text does.
    this._waiting += " ";
    this._readWaiting();
    if (this._fault === undefined && this._state !== "over")
      this._fail(this._passed - 1, "Unexpected end of JSON input");
    return this._fault === undefined ? { value: this._value } : { fault: this._fault };
  }

  private _readWaiting(): void {
    const text = this._waiting;
    this._waiting = "";
    for (let at = 0; at < text.length && this._fault === undefined; ) at = this._read(text, at);
    this._passed += text.length - this._waiting.length;
  }

  /** Reads one thing; returns where the next one begins. */
  private _read(text: string, at: number): number {
    if (this._cut?.kind === "text") return this._readText(text, at);
    if (this._cut?.kind === "word") return this._readWord(text, at);
    const code = text.charCodeAt(at);
    switch (code) {
      case 0x20:
      case 0x0a:
      case 0x0d:
      case 0x09:
        return at + 1;
      case 0x22:
        if (!this._takesText()) return this._unexpected(text, at);
        this._cut = { kind: "text", parts: [] };
        return this._readText(text, at + 1);
      case 0x7b:
      case 0x5b:
        return this._takesValue() ? this._begin(code === 0x5b ? [] : {}, at) : this._unexpected(text, at);
      case 0x7d:
      case 0x5d:
        return this._close(text, at, code === 0x5d);
      case 0x2c:
        if (this._state !== "comma-or-end") return this._unexpected(text, at);
        this._state = Array.isArray(this._open.at(-1)) ? "value" : "key";
        return at + 1;
      case 0x3a:
        if (this._state !== "colon") return this._unexpected(text, at);
        this._state = "value";
        return at + 1;
      default:
        if (!this._takesValue()) return this._unexpected(text, at);
        this._cut = { kind: "word", parts: [] };
        return this._readWord(text, at);
    }
  }

  private _takesValue(): boolean {
    return this._state === "value" || this._state === "value-or-end";
  }

  private _takesText(): boolean {
    return this._takesValue() || this._state === "key" || this._state === "key-or-end";
  }

  private _begin(container: unknown[] | Record<string, unknown>, at: number): number {
    this._put(container);
    this._open.push(container);
    if (this._open.length > MAX_JSON_DEPTH) this._fault = TOO_DEEP;
    this._state = Array.isArray(container) ? "value-or-end" : "key-or-end";
    return at + 1;
  }

  private _close(text: string, at: number, isList: boolean): number {
    const mayEnd = this._state === "comma-or-end" || this._state === (isList ? "value-or-end" : "key-or-end");
    if (!mayEnd || this._open.length === 0 || Array.isArray(this._open.at(-1)) !== isList) {
      return this._unexpected(text, at);
    }
    this._open.pop();
    this._state = this._open.length === 0 ? "over" : "comma-or-end";
    return at + 1;
  }

  private _readText(text: string, from: number): number {
    const { parts } = this._cut as { readonly parts: string[] };
    const quote = findQuote(text, from);
    const end = quote === -1 ? endOfWhole(text, from) : quote;
    if (end > from) parts.push(this._unescape(text.slice(from, end), from));
    if (quote === -1) {
      // The beginning of an escape is read again with what comes next.
      this._waiting = text.slice(end);
      return text.length;
    }
    this._cut = undefined;
    this._takeText(parts.length === 1 ? (parts[0] as string) : parts.join(""));
    return quote + 1;
  }

  private _takeText(text: string): void {
    if (this._takesValue()) return this._put(text);
    this._keys.push(text);
    this._state = "colon";
  }

  private _unescape(raw: string, at: number): string {
    if (raw.length < COPIED_CHARACTERS && !SPECIAL.test(raw)) return raw;
    return this._parse(`"${raw}"`, at) as string;
  }

  private _readWord(text: string, from: number): number {
    const { parts } = this._cut as { readonly parts: string[] };
    END_OF_WORD.lastIndex = from;
    const end = END_OF_WORD.exec(text)?.index ?? text.length;
    parts.push(text.slice(from, end));
    if (end === text.length) return end;
    this._cut = undefined;
    this._put(this._parse(parts.join(""), from));
    return end;
  }

  private _parse(json: string, at: number): unknown {
    try {
      return JSON.parse(json);
    } catch {
      this._fail(at, "Unexpected text");
      return "";
    }
  }

  private _put(value: unknown): void {
    const container = this._open.at(-1);
    this._state = container === undefined ? "over" : "comma-or-end";
    if (container === undefined) this._value = value;
    else if (Array.isArray(container)) container.push(value);
    else setOwn(container, this._keys.pop() as string, value);
  }

  private _unexpected(text: string, at: number): number {
    const character = String.fromCodePoint(text.codePointAt(at) as number);
    this._fail(at, `Unexpected token ${JSON.stringify(character)}`);
    return text.length;
  }

  private _fail(at: number, what: string): void {
    this._fault ??= `${what} at position ${this._passed + at}`;
  }
}

/** Defined and not assigned where it matters: `__proto__` is a key like any other. */
function setOwn(container: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") container[key] = value;
  else Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Where the text that goes on at `from` is closed, or -1. `from` is not within an escape. */
function findQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    if (slashesBefore(text, from, at) % 2 === 0) return at;
  }
  return -1;
}

function slashesBefore(text: string, from: number, at: number): number {
  let first = at;
  while (first > from && text.charCodeAt(first - 1) === 0x5c) first -= 1;
  return at - first;
}

/** Where a text without an end can be cut: before an escape that is not whole. */
function endOfWhole(text: string, from: number): number {
  const slash = text.lastIndexOf("\\");
  if (slash < from || slash < text.length - 6 || slashesBefore(text, from, slash) % 2 === 1) return text.length;
  const needed = text.charAt(slash + 1) === "u" ? 6 : 2;
  return slash + needed <= text.length ? text.length : slash;
}

/** Longer JSON is read as it comes. */
const LONG_JSON = 262_144;

/** Reads JSON text that arrives in pieces: a long one while it arrives, so that its end costs no more than its last piece. */
export class JsonAhead {
  private _length = 0;
  private _reader: JsonReader | undefined;
  private _parsed: Parsed | undefined;

  /** The next piece, which `whole` ends with. */
  add(piece: string, whole: () => string): void {
    this._length += piece.length;
    if (this._parsed !== undefined) {
      // It was taken for whole too early, and is read again.
      this._parsed = undefined;
      this._reader = undefined;
    }
    if (this._reader !== undefined) this._reader.push(piece);
    else if (this._length > LONG_JSON) {
      this._reader = new JsonReader();
      this._reader.push(whole());
    }
  }

  /** What the text is as JSON. It is read once, however often this is asked. */
  parse(whole: () => string): Parsed {
    this._parsed ??= this._reader === undefined ? parseJson(whole()) : this._reader.end();
    return this._parsed;
  }
}

/** A text that arrives in many small pieces, and what it is as JSON. */
export class JsonBuilder extends TextBuilder {
  private readonly _ahead = new JsonAhead();
  private readonly _whole = (): string => this.text();

  override add(piece: string): void {
    super.add(piece);
    this._ahead.add(piece, this._whole);
  }

  parse(): Parsed {
    return this._ahead.parse(this._whole);
  }
}
