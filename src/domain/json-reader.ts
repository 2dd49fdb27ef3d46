import type { NextTurn } from "./seams.ts";

/** The value of a JSON text, or the reason why it has none. */
export type ParsedJson =
  | { readonly value: unknown; readonly fault?: never }
  | { readonly fault: string; readonly value?: never };

/**
 * The deepest accepted nesting of a JSON value. `JSON.parse` itself survives a million levels, but code that later
 * walks the value recursively would not. No known dialect exceeds 20.
 */
export const MAX_JSON_DEPTH = 512;

/** Why a value that is nested too deeply is refused. */
export const TOO_DEEP = `nested deeper than ${MAX_JSON_DEPTH} levels`;

/**
 * The most fields of one object. Listing the names of an object takes time in proportion to their number, and cannot be
 * interrupted: with 800,000 names it blocks the event loop for seconds. A short text cannot have so many. Lists have no
 * such limit.
 */
export const MAX_JSON_FIELDS = 65_536;

/** Why an object with too many fields is refused. */
const TOO_MANY_FIELDS = `an object has more than ${MAX_JSON_FIELDS} fields`;

/** Longer JSON is parsed piece by piece. */
export const LONG_JSON = 262_144;

/** How many characters are parsed in one turn of the event loop. */
const TURN_CHARACTERS = 65_536;

/** Small pieces are collected until there are this many characters. */
const ROW_CHARACTERS = 16_384;

/** A substring is a reference to the larger string; from this length on it is copied, so that the rest can be freed. */
const COPIED_CHARACTERS = 13;

const SPECIAL = /[\\\u0000-\u001f]/;
const END_OF_WORD = /[\s,:"[\]{}]/g;

/** What may come next. */
type State = "value" | "value-or-end" | "key" | "key-or-end" | "colon" | "comma-or-end" | "over";

/**
 * Parses JSON text as it arrives, piece by piece: `JSON.parse` needs the whole text and, with very many members, blocks
 * everything else while it runs. Several times slower than `JSON.parse`, and therefore only for long texts.
 *
 * @example
 * const reader = new JsonReader()
 * for (const piece of pieces) reader.push(piece)
 * const parsed = reader.end()
 */
export class JsonReader {
  private _waiting = "";
  /** How many characters come before those that are being parsed. */
  private _passed = 0;
  private _state: State = "value";
  private readonly _open: (unknown[] | Record<string, unknown>)[] = [];
  private readonly _keys: string[] = [];
  /** By open list or object: how many fields it has. */
  private readonly _fields: number[] = [];
  /** A string or another token that was split between pieces, as far as it has arrived. */
  private _cut: { readonly kind: "text" | "word"; readonly parts: string[] } | undefined;
  private _value: unknown;
  private _fault: string | undefined;
  private readonly _maxDepth: number;
  private readonly _maxFields: number;

  /** `isOurs`: we have written the text ourselves, so its depth and its fields are not limited. */
  constructor(isOurs = false) {
    this._maxDepth = isOurs ? Number.POSITIVE_INFINITY : MAX_JSON_DEPTH;
    this._maxFields = isOurs ? Number.POSITIVE_INFINITY : MAX_JSON_FIELDS;
  }

  push(piece: string): void {
    if (this._fault !== undefined) return;
    this._waiting += piece;
    if (this._waiting.length >= ROW_CHARACTERS) this._readWaiting();
  }

  /** Adds a string value as it is, in the place of its JSON text. */
  pushText(text: string): void {
    this._readWaiting();
    if (this._fault !== undefined) return;
    if (this._takesValue() && this._cut === undefined) this._put(text);
    else this._fail(0, "Unexpected string");
  }

  /** The value of the whole text. Do not push anything afterwards. */
  end(): ParsedJson {
    // A token ends where the text ends.
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

  /** Reads one token; returns the index of the next one. */
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
    this._fields.push(0);
    if (this._open.length > this._maxDepth) this._fault = TOO_DEEP;
    this._state = Array.isArray(container) ? "value-or-end" : "key-or-end";
    return at + 1;
  }

  private _close(text: string, at: number, isList: boolean): number {
    const mayEnd = this._state === "comma-or-end" || this._state === (isList ? "value-or-end" : "key-or-end");
    if (!mayEnd || this._open.length === 0 || Array.isArray(this._open.at(-1)) !== isList) {
      return this._unexpected(text, at);
    }
    this._open.pop();
    this._fields.pop();
    this._state = this._open.length === 0 ? "over" : "comma-or-end";
    return at + 1;
  }

  private _readText(text: string, from: number): number {
    const { parts } = this._cut as { readonly parts: string[] };
    const quote = findQuote(text, from);
    const end = quote === -1 ? endOfWhole(text, from) : quote;
    if (end > from) parts.push(this._unescape(text.slice(from, end), from));
    if (quote === -1) {
      // An incomplete escape is read again together with the next piece.
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
    else {
      const at = this._open.length - 1;
      this._fields[at] = (this._fields[at] as number) + 1;
      if ((this._fields[at] as number) > this._maxFields) this._fault ??= TOO_MANY_FIELDS;
      setOwn(container, this._keys.pop() as string, value);
    }
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

/** Defined rather than assigned, because `__proto__` is an ordinary key in JSON. */
function setOwn(container: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") container[key] = value;
  else Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
}

/** The index of the closing quote of a string that continues at `from`, or -1. `from` is not within an escape. */
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

/** Where an unfinished string can be cut: before an incomplete escape. */
function endOfWhole(text: string, from: number): number {
  const slash = text.lastIndexOf("\\");
  if (slash < from || slash < text.length - 6 || slashesBefore(text, from, slash) % 2 === 1) return text.length;
  const needed = text.charAt(slash + 1) === "u" ? 6 : 2;
  return slash + needed <= text.length ? text.length : slash;
}

/** Parses a long JSON text that is already complete, a part in each turn of the event loop. */
export async function readLongJson(text: string, nextTurn: NextTurn | undefined): Promise<ParsedJson> {
  const reader = new JsonReader();
  for (let from = 0; from < text.length; from += TURN_CHARACTERS) {
    reader.push(text.slice(from, from + TURN_CHARACTERS));
    await nextTurn?.();
  }
  return reader.end();
}
