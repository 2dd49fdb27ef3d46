/** A JSON value with the positions of its fields, or the error and its position. */
export type ReadJson =
  | { readonly value: unknown; readonly places: ReadonlyMap<string, number>; readonly fault?: never }
  | { readonly fault: string; readonly offset: number };

const DEEPEST = 64;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const BLANK = /[ \t\r\n]*/y;

/**
 * Parses JSON and records the position of each field by its path (`limits.turns`, `agents[0].name`), which `JSON.parse`
 * does not: errors in hand-written files need line numbers. A duplicate field is an error here.
 */
export function readJsonPlaces(text: string): ReadJson {
  const reader = new PositionReader(text);
  try {
    const value = reader.read();
    return { value, places: reader.places };
  } catch (error) {
    if (error instanceof JsonFault) return { fault: error.message, offset: error.offset };
    throw error;
  }
}

/** The line and the column of an offset, both counted from 1. */
export function lineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: offset - before.lastIndexOf("\n") };
}

/** What is wrong with a text that is not JSON, and where; `undefined` for JSON. */
export function describeJsonFault(text: string): string | undefined {
  const read = readJsonPlaces(text);
  if (read.fault === undefined) return undefined;
  const { line, column } = lineAndColumn(text, read.offset);
  return `${read.fault} (line ${line}, column ${column})`;
}

class JsonFault extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

class PositionReader {
  readonly places = new Map<string, number>();
  private readonly _text: string;
  private _at: number;

  constructor(text: string) {
    this._text = text;
    this._at = text.startsWith("\ufeff") ? 1 : 0;
  }

  read(): unknown {
    const value = this._value("", 0);
    this._skip(BLANK);
    if (this._at < this._text.length) this._fail("there is more after the end");
    return value;
  }

  private _value(path: string, depth: number): unknown {
    this._skip(BLANK);
    if (!this.places.has(path)) this.places.set(path, this._at);
    if (depth > DEEPEST) this._fail(`nested deeper than ${DEEPEST} levels`);
    const mark = this._text.charAt(this._at);
    if (mark === "{") return this._object(path, depth);
    if (mark === "[") return this._list(path, depth);
    if (mark === '"') return this._string();
    for (const [word, value] of [
      ["true", true],
      ["false", false],
      ["null", null],
    ] as const) {
      if (!this._text.startsWith(word, this._at)) continue;
      this._at += word.length;
      return value;
    }
    const digits = this._skip(NUMBER);
    if (digits === "") this._fail(mark === "" ? "the end is missing" : `${JSON.stringify(mark)} does not belong here`);
    return Number(digits);
  }

  private _object(path: string, depth: number): unknown {
    const fields = new Map<string, unknown>();
    this._at += 1;
    if (this._isNext("}")) return {};
    do {
      this._skip(BLANK);
      const offset = this._at;
      if (this._text.charAt(offset) !== '"') this._fail("a field's name in quotes is due here");
      const name = this._string();
      if (fields.has(name)) this._fail(`${JSON.stringify(name)} appears twice`, offset);
      const place = path === "" ? name : `${path}.${name}`;
      this.places.set(place, offset);
      if (!this._isNext(":")) this._fail("a : is missing");
      fields.set(name, this._value(place, depth + 1));
    } while (this._isNext(","));
    if (!this._isNext("}")) this._fail("a , or } is missing");
    return Object.fromEntries(fields);
  }

  private _list(path: string, depth: number): unknown {
    const list: unknown[] = [];
    this._at += 1;
    if (this._isNext("]")) return list;
    do list.push(this._value(`${path}[${list.length}]`, depth + 1));
    while (this._isNext(","));
    if (!this._isNext("]")) this._fail("a , or ] is missing");
    return list;
  }

  private _string(): string {
    const start = this._at;
    for (let at = start + 1; at < this._text.length; at += 1) {
      const mark = this._text.charAt(at);
      if (mark === "\\") at += 1;
      else if (mark === "\n") break;
      else if (mark === '"') {
        this._at = at + 1;
        try {
          return JSON.parse(this._text.slice(start, at + 1)) as string;
        } catch {
          this._fail("the text has a character or an escape that JSON does not know", start);
        }
      }
    }
    return this._fail("the text has no end", start);
  }

  private _isNext(mark: string): boolean {
    this._skip(BLANK);
    if (this._text.charAt(this._at) !== mark) return false;
    this._at += 1;
    return true;
  }

  private _skip(pattern: RegExp): string {
    const own = new RegExp(pattern.source, "y");
    own.lastIndex = this._at;
    const found = own.exec(this._text)?.[0] ?? "";
    this._at += found.length;
    return found;
  }

  private _fail(message: string, offset = this._at): never {
    throw new JsonFault(message, offset);
  }
}
