/** Longer strings are written piece by piece, and so are lists and objects with more content. */
const SLICE_CHARACTERS = 65_536;

/** The estimated size of a value in addition to its strings. */
const VALUE_CHARACTERS = 8;

/** A long string in a JSON value, not encoded yet: the caller may write it bit by bit, or elsewhere. */
export interface LongText {
  readonly text: string;
}

/**
 * Encodes a JSON value like `JSON.stringify`, but in pieces: a string of many megabytes, and a list or object with very
 * many members, are written bit by bit, so that the caller can yield to the event loop in between.
 *
 * @example
 * for (const piece of encodeInSlices(event)) { response.write(piece); await nextTurn() }
 */
export function* encodeInSlices(value: unknown): Generator<string, undefined> {
  for (const piece of cutJson(value)) {
    if (typeof piece === "string") yield piece;
    else yield* writeText(piece.text);
  }
  return undefined;
}

/** A JSON value that is written as a string within JSON, which is how hosts take the arguments of a call. */
export class JsonInText {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }

  toJSON(): string | undefined {
    return JSON.stringify(this.value);
  }
}

/** The same, with long strings left unencoded. */
export function* cutJson(value: unknown): Generator<string | LongText, undefined> {
  let waiting = "";
  for (const piece of cut(value, "", [])) {
    if (typeof piece === "string") {
      waiting += piece;
      if (waiting.length < SLICE_CHARACTERS) continue;
      yield waiting;
    } else {
      if (waiting !== "") yield waiting;
      yield piece;
    }
    waiting = "";
  }
  if (waiting !== "") yield waiting;
  return undefined;
}

/** Yields nothing for values that JSON leaves out: `undefined`, functions, symbols. */
function* cut(given: unknown, key: string, above: readonly unknown[]): Generator<string | LongText, undefined> {
  if (given instanceof JsonInText && measureJson(given.value, SLICE_CHARACTERS) >= SLICE_CHARACTERS) {
    yield '"';
    for (const piece of encodeInSlices(given.value)) yield JSON.stringify(piece).slice(1, -1);
    yield '"';
    return undefined;
  }
  const value = hasToJson(given) ? given.toJSON(key) : given;
  if (typeof value === "string" && value.length > SLICE_CHARACTERS) {
    yield { text: value };
  } else if (isPlainTree(value) && measureJson(value, SLICE_CHARACTERS) >= SLICE_CHARACTERS) {
    if (above.includes(value)) throw new TypeError("A value that contains itself cannot be written as JSON.");
    yield* Array.isArray(value) ? cutList(value, [...above, value]) : cutFields(value, [...above, value]);
  } else {
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) yield text;
  }
  return undefined;
}

function* cutList(list: readonly unknown[], above: readonly unknown[]): Generator<string | LongText, undefined> {
  let before = "[";
  for (let from = 0; from < list.length; ) {
    yield before;
    before = ",";
    const end = endOfSmall(list, from);
    // Small members are written together: one by one would take ten times as long.
    if (end > from) yield JSON.stringify(list.slice(from, end)).slice(1, -1);
    else yield* orNull(cut(list[from], String(from), above));
    from = Math.max(end, from + 1);
  }
  yield list.length === 0 ? "[]" : "]";
  return undefined;
}

/** In a list, a value that JSON leaves out becomes `null`. */
function* orNull(pieces: Iterable<string | LongText>): Generator<string | LongText, undefined> {
  let isWritten = false;
  for (const piece of pieces) {
    isWritten = true;
    yield piece;
  }
  if (!isWritten) yield "null";
  return undefined;
}

/** The end of a row of small members that is written as one piece. */
function endOfSmall(list: readonly unknown[], from: number): number {
  let characters = 0;
  let end = from;
  for (; end < list.length && characters < SLICE_CHARACTERS; end += 1) {
    const more = measureJson(list[end], SLICE_CHARACTERS);
    if (more >= SLICE_CHARACTERS) break;
    characters += more;
  }
  return end;
}

function* cutFields(
  fields: Readonly<Record<string, unknown>>,
  above: readonly unknown[],
): Generator<string | LongText, undefined> {
  let before = "{";
  for (const key of Object.keys(fields)) {
    let isWritten = false;
    for (const piece of cut(fields[key], key, above)) {
      if (!isWritten) yield `${before}${JSON.stringify(key)}:`;
      isWritten = true;
      yield piece;
    }
    if (isWritten) before = ",";
  }
  yield before === "{" ? "{}" : "}";
  return undefined;
}

function hasToJson(value: unknown): value is { toJSON(key: string): unknown } {
  return (
    typeof value === "object" && value !== null && typeof (value as { readonly toJSON?: unknown }).toJSON === "function"
  );
}

/** Lists and objects; wrappers of single values (`new String("x")`) are written as the value. */
function isPlainTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" &&
    value !== null &&
    !(value instanceof String || value instanceof Number || value instanceof Boolean)
  );
}

function* writeText(text: string): Generator<string, undefined> {
  yield '"';
  for (let from = 0; from < text.length; ) {
    const end = endOfPiece(text, from, SLICE_CHARACTERS);
    yield JSON.stringify(text.slice(from, end)).slice(1, -1);
    from = end;
  }
  yield '"';
  return undefined;
}

/** The end of a piece of this many characters, or one less, so that a surrogate pair is not split. */
export function endOfPiece(text: string, from: number, characters: number): number {
  const end = Math.min(text.length, from + characters);
  return end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** The approximate length of a value's JSON, without writing it. Stops when `most` is reached. */
export function measureJson(value: unknown, most = Number.POSITIVE_INFINITY): number {
  if (typeof value === "string") return VALUE_CHARACTERS + value.length;
  if (typeof value !== "object" || value === null) return VALUE_CHARACTERS;
  if (value instanceof Uint8Array) return VALUE_CHARACTERS + value.length;
  if (value instanceof JsonInText) return measureJson(value.value, most);
  let characters = VALUE_CHARACTERS;
  if (Array.isArray(value)) {
    for (const member of value) {
      if (characters >= most) return characters;
      characters += measureJson(member, most - characters);
    }
    return characters;
  }
  for (const key of Object.keys(value)) {
    if (characters >= most) return characters;
    characters += key.length + measureJson((value as Record<string, unknown>)[key], most - characters);
  }
  return characters;
}
