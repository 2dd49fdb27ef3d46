import { encodeInSlices, endOfPiece, measureJson } from "#wire";

/** What is larger is not written at once, and nobody keeps it written. In characters. */
const LARGE = 262_144;

/** So many characters are written in one turn of the event loop. */
const TURN_CHARACTERS = 131_072;

/** Values of a request that are written when it is sent, with commas between them. */
class Unwritten {
  readonly values: readonly unknown[];

  constructor(values: readonly unknown[]) {
    this.values = values;
  }
}

/** JSON text in which large values are not written yet. */
class Draft {
  readonly pieces: readonly (string | Unwritten)[];

  constructor(pieces: readonly (string | Unwritten)[]) {
    this.pieces = pieces;
  }
}

/**
 * The JSON text of a request, or a part of it. Large values stand in it unwritten: a conversation of many megabytes is
 * in memory once, and is written bit by bit when it is sent.
 */
export type RequestText = string | Draft;

/** Values as JSON, with commas between them and no brackets around them. */
export function writeValues(values: readonly unknown[]): RequestText {
  if (measureJson(values, LARGE) >= LARGE) return new Draft([new Unwritten(values)]);
  return values.map((value) => JSON.stringify(value)).join(",");
}

/** JSON text with other texts in it: a template. Not joined from parts: a text that is only put together is copied once. */
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

/** Two pieces of a list in JSON. */
export function behind(text: RequestText, more: RequestText): RequestText {
  return text === "" ? more : more === "" ? text : json`${text},${more}`;
}

/** The body of a request: fields, and one more whose JSON is already written. */
export function writeBody(fields: Readonly<Record<string, unknown>>, name: string, text: RequestText): RequestText {
  const begun = JSON.stringify(fields).slice(0, -1);
  return json`${begun}${begun === "{" ? "" : ","}${JSON.stringify(name)}:${text}}`;
}

/** The text as it is sent: a small one at once, as text, and any other in bytes, a few in each turn of the event loop. */
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

/** JSON has no halves of characters: where one stands, it is cut before it. */
function* cutText(text: string): Generator<string, undefined> {
  for (let from = 0; from < text.length; ) {
    const end = endOfPiece(text, from, TURN_CHARACTERS);
    yield text.slice(from, end);
    from = end;
  }
  return undefined;
}
