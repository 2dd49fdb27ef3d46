import { encodeInSlices, endOfPiece, measureJson } from "#wire";

/** The size in characters above which text is not serialised at once and not cached. */
const LARGE = 262_144;

/** The number of characters that are serialised in one turn of the event loop. */
const TURN_CHARACTERS = 131_072;

/** Values of a request that are serialised when it is sent, separated by commas. */
class Unwritten {
  readonly values: readonly unknown[];

  constructor(values: readonly unknown[]) {
    this.values = values;
  }
}

/** JSON text in which large values are not serialised yet. */
class Draft {
  readonly pieces: readonly (string | Unwritten)[];

  constructor(pieces: readonly (string | Unwritten)[]) {
    this.pieces = pieces;
  }
}

/**
 * The JSON text of a request, or a part of it. Large values stay unserialised: a conversation of many megabytes is in
 * memory once and is serialised piece by piece when it is sent.
 */
export type RequestText = string | Draft;

/** Values as JSON, separated by commas and without brackets. */
export function writeValues(values: readonly unknown[]): RequestText {
  if (measureJson(values, LARGE) >= LARGE) return new Draft([new Unwritten(values)]);
  return values.map((value) => JSON.stringify(value)).join(",");
}

/** A template tag for JSON text. Uses `+`, not `join`, which would copy the text once more. */
export function json(strings: readonly string[], ...texts: readonly RequestText[]): RequestText {
  if (texts.every((text) => typeof text === "string")) {
    return strings.reduce((text, string, at) => text + String(texts[at - 1]) + string);
  }
  const pieces = strings.flatMap((string, at) => {
    const text = texts[at] ?? "";
    return [string, ...(typeof text === "string" ? [text] : text.pieces)];
  });
  return new Draft(pieces.filter((piece) => piece !== ""));
}

/** Joins two parts of a JSON list. */
export function joinText(text: RequestText, more: RequestText): RequestText {
  return text === "" ? more : more === "" ? text : json`${text},${more}`;
}

/** The body of a request: fields, and one more field whose JSON is already written. */
export function writeBody(fields: Readonly<Record<string, unknown>>, name: string, text: RequestText): RequestText {
  const begun = JSON.stringify(fields).slice(0, -1);
  return json`${begun}${begun === "{" ? "" : ","}${JSON.stringify(name)}:${text}}`;
}

/**
 * The text as it is sent: a small one at once, as a string; a large one as bytes, a part per turn of the event loop.
 */
export async function finishText(text: RequestText, nextTurn: () => Promise<void>): Promise<string | Uint8Array> {
  if (typeof text === "string" && text.length < LARGE) return text;
  const bytes: Uint8Array[] = [];
  let characters = 0;
  for (const piece of piecesOf(text)) {
    bytes.push(Buffer.from(piece));
    characters += piece.length;
    if (characters < TURN_CHARACTERS) continue;
    characters = 0;
    await nextTurn();
  }
  return Buffer.concat(bytes);
}

function* piecesOf(text: RequestText): Generator<string, undefined> {
  for (const piece of typeof text === "string" ? [text] : text.pieces) {
    if (typeof piece === "string") yield* cutText(piece);
    else {
      for (const [at, value] of piece.values.entries()) {
        if (at > 0) yield ",";
        yield* encodeInSlices(value);
      }
    }
  }
  return undefined;
}

/** Cuts text without splitting a surrogate pair, which would not be valid UTF-8. */
function* cutText(text: string): Generator<string, undefined> {
  for (let from = 0; from < text.length; ) {
    const end = endOfPiece(text, from, TURN_CHARACTERS);
    yield text.slice(from, end);
    from = end;
  }
  return undefined;
}
