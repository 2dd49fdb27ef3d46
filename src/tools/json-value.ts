import { encodeBase64, isPlainObject } from "#domain";

/** A value that has no JSON form. The message is a sentence for the model that asked for it. */
export class NotJsonError extends Error {
  override readonly name = "NotJsonError";
}

/**
 * A value as plain JSON, without silent losses: values that `JSON.stringify` would turn into `{}` or `null` get a
 * descriptive form, and a value that has none is an error with its name and path.
 *
 * | value | form |
 * |---|---|
 * | `Map` | an object, or a list of pairs when a key is not a text |
 * | `Set` | a list |
 * | `NaN`, `Infinity`, `bigint`, a symbol, a function | their text |
 * | `Date` | ISO 8601 |
 * | `Error` | `{ name, message }`, with its own fields |
 * | `Uint8Array`, `Buffer`, `ArrayBuffer` | `{ type: "bytes", length, base64 }` |
 *
 * @throws NotJsonError for a cycle, and for an instance of a class without enumerable fields.
 */
export function toJsonValue(value: unknown): unknown {
  return toJsonPrefix(value, Number.POSITIVE_INFINITY).value;
}

/** The beginning of a value as plain JSON. */
export interface JsonPrefix {
  readonly value: unknown;
  /** Nothing was left out. */
  readonly isWhole: boolean;
}

/**
 * `toJsonValue` for a value that is truncated later: members are left out once the JSON text of those before them has
 * this many characters, so that a value of millions of members costs no more than the part that is kept.
 */
export function toJsonPrefix(value: unknown, maxCharacters: number): JsonPrefix {
  const converter = new Converter(maxCharacters);
  try {
    return { value: converter.convert(value, "", []), isWhole: !converter.isCut };
  } catch (error) {
    if (error instanceof RangeError) throw new NotJsonError("it is nested too deeply");
    throw error;
  }
}

class Converter {
  /** Something was left out. */
  isCut = false;
  /** How many characters may still be written. A lower bound: every character counted is certainly written. */
  private _left: number;

  constructor(maxCharacters: number) {
    this._left = maxCharacters;
  }

  convert(value: unknown, place: string, above: readonly object[]): unknown {
    switch (typeof value) {
      case "string":
        return this._text(value);
      case "boolean":
        this._left -= 1;
        return value;
      case "number":
        this._left -= 1;
        return Number.isFinite(value) ? value : String(value);
      case "bigint":
      case "symbol":
        return String(value);
      case "undefined":
        return "undefined";
      case "function":
        return `[function ${value.name === "" ? "without a name" : value.name}]`;
      default:
        return value === null ? null : this._convertObject(value as object, place, above);
    }
  }

  private _text(text: string): string {
    const left = Math.max(0, this._left);
    this._left -= text.length + 2;
    if (text.length <= left) return text;
    this.isCut = true;
    return text.slice(0, left + 1);
  }

  private _convertObject(value: object, place: string, above: readonly object[]): unknown {
    if (above.includes(value)) throw new NotJsonError(`${nameOf(place)} refers back to what holds it`);
    const within = [...above, value];
    if (Array.isArray(value) || value instanceof Set) return this._list(value, place, within);
    if (value instanceof Map) return this._convertMap(value, place, within);
    if (value instanceof Uint8Array) return this._bytes(value);
    if (value instanceof ArrayBuffer) return this._bytes(new Uint8Array(value));
    if (ArrayBuffer.isView(value) && Symbol.iterator in value) {
      return this._list(value as unknown as Iterable<unknown>, place, within);
    }
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
    if (value instanceof RegExp) return String(value);
    if (value instanceof Number || value instanceof String || value instanceof Boolean) {
      return this.convert(value.valueOf(), place, within);
    }
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (typeof toJSON === "function") return this.convert(toJSON.call(value, ""), place, within);
    if (value instanceof Error) {
      return { name: value.name, message: value.message, ...this._fields(Object.entries(value), place, within) };
    }
    const fields = this._fields(Object.entries(value), place, within);
    if (Object.keys(fields).length === 0 && !isPlainObject(value) && !this.isCut) {
      throw new NotJsonError(`${nameOf(place)} is ${describeClass(value)}, which shows no fields`);
    }
    return fields;
  }

  /** Whether there is room for another member of a list or an object, which takes at least this many characters. */
  private _hasRoom(characters: number): boolean {
    if (this._left <= 0) this.isCut = true;
    else this._left -= characters;
    return !this.isCut;
  }

  private _list(entries: Iterable<unknown>, place: string, above: readonly object[]): unknown[] {
    const list: unknown[] = [];
    for (const entry of entries) {
      if (!this._hasRoom(1)) break;
      list.push(this.convert(entry, `${place}[${list.length}]`, above));
    }
    return list;
  }

  private _fields(
    entries: Iterable<readonly [string, unknown]>,
    place: string,
    above: readonly object[],
  ): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    for (const [key, entry] of entries) {
      // A field that is `undefined` is absent, as everywhere in JSON.
      if (entry === undefined) continue;
      if (!this._hasRoom(key.length + 4)) break;
      define(fields, key, this.convert(entry, place === "" ? key : `${place}.${key}`, above));
    }
    return fields;
  }

  private _convertMap(map: ReadonlyMap<unknown, unknown>, place: string, above: readonly object[]): unknown {
    if (![...map.keys()].every((key) => typeof key === "string")) return this._list(map, place, above);
    const fields: Record<string, unknown> = {};
    for (const [key, entry] of map as ReadonlyMap<string, unknown>) {
      if (!this._hasRoom(key.length + 4)) break;
      define(fields, key, this.convert(entry, place === "" ? key : `${place}.${key}`, above));
    }
    return fields;
  }

  private _bytes(bytes: Uint8Array): unknown {
    // Three bytes are four characters; what is cut off after them changes nothing before.
    const kept = Math.min(bytes.length, Math.max(0, this._left));
    const shown = bytes.subarray(0, kept + ((3 - (kept % 3)) % 3));
    this.isCut ||= shown.length < bytes.length;
    const base64 = encodeBase64(shown);
    this._left -= base64.length;
    return { type: "bytes", length: bytes.length, base64 };
  }
}

/** Defined rather than assigned, because a field may be called `__proto__`. */
function define(fields: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
}

function describeClass(value: object): string {
  if (typeof (value as PromiseLike<unknown>).then === "function") return "a promise (await it first)";
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" ? `a ${name}` : "an object of a class";
}

function nameOf(place: string): string {
  return place === "" ? "it" : `"${place}"`;
}
