/** A value that has no JSON form. The message is a sentence fit for the model that asked for it. */
export class NotJsonError extends Error {
  override readonly name = "NotJsonError";
}

/**
 * A value as plain JSON, with nothing lost in silence: what `JSON.stringify` would turn into `{}` or `null` gets a
 * form that says what it was, and what has none is an error that names it and its place.
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
 * @throws NotJsonError for a cycle, and for an object of a class that shows no fields.
 */
export function toJsonValue(value: unknown): unknown {
  try {
    return convert(value, "", []);
  } catch (error) {
    if (error instanceof RangeError) throw new NotJsonError("it is nested too deeply");
    throw error;
  }
}

function convert(value: unknown, place: string, above: readonly object[]): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
    case "symbol":
      return String(value);
    case "undefined":
      return "undefined";
    case "function":
      return `[function ${value.name === "" ? "without a name" : value.name}]`;
    default:
      return value === null ? null : convertObject(value as object, place, above);
  }
}

function convertObject(value: object, place: string, above: readonly object[]): unknown {
  if (above.includes(value)) throw new NotJsonError(`${nameOf(place)} refers back to what holds it`);
  const within = [...above, value];
  const list = (entries: Iterable<unknown>) =>
    Array.from(entries, (entry, at) => convert(entry, `${place}[${at}]`, within));
  if (Array.isArray(value) || value instanceof Set) return list(value);
  if (value instanceof Map) return convertMap(value, place, within);
  if (value instanceof Uint8Array) return bytesOf(value);
  if (value instanceof ArrayBuffer) return bytesOf(new Uint8Array(value));
  if (ArrayBuffer.isView(value) && Symbol.iterator in value) return list(value as unknown as Iterable<unknown>);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    return convert(value.valueOf(), place, within);
  }
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === "function") return convert(toJSON.call(value, ""), place, within);
  if (value instanceof Error) {
    return { name: value.name, message: value.message, ...convertFields(value, place, within) };
  }
  const fields = convertFields(value, place, within);
  if (Object.keys(fields).length === 0 && !isPlain(value)) {
    throw new NotJsonError(`${nameOf(place)} is ${describeClass(value)}, which shows no fields`);
  }
  return fields;
}

function convertFields(value: object, place: string, above: readonly object[]): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(value)) {
    // A field that is `undefined` is an absent one, as everywhere in JSON.
    if (entry !== undefined) define(fields, key, convert(entry, place === "" ? key : `${place}.${key}`, above));
  }
  return fields;
}

function convertMap(map: ReadonlyMap<unknown, unknown>, place: string, above: readonly object[]): unknown {
  const keys = [...map.keys()];
  if (!keys.every((key) => typeof key === "string")) {
    return Array.from(map, (pair, at) => convert(pair, `${place}[${at}]`, above));
  }
  const fields: Record<string, unknown> = {};
  for (const key of keys) define(fields, key, convert(map.get(key), place === "" ? key : `${place}.${key}`, above));
  return fields;
}

/** Defined, not assigned: a field may be called `__proto__`. */
function define(fields: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
}

function bytesOf(bytes: Uint8Array): unknown {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return { type: "bytes", length: bytes.length, base64: btoa(binary) };
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function describeClass(value: object): string {
  if (typeof (value as PromiseLike<unknown>).then === "function") return "a promise (await it first)";
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" ? `a ${name}` : "an object of a class";
}

function nameOf(place: string): string {
  return place === "" ? "it" : `"${place}"`;
}
