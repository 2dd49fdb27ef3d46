import { type Cursor, isDigit, peek, refuseHere, refuseNext, take } from "./cursor.ts";

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["/", "/"],
  ["\\", "\\"],
]);

const FOUR_HEX_DIGITS = /^[0-9A-Fa-f]{4}$/;

/** A name as it may follow a dot: letters, digits, `_` and everything beyond ASCII; no digit at the start. */
export function parseBareName(cursor: Cursor): string {
  const start = cursor.position;
  while (isNameCharacter(peek(cursor), cursor.position > start)) takeCharacter(cursor);
  if (cursor.position === start) refuseNext(cursor);
  return cursor.source.slice(start, cursor.position);
}

function isNameCharacter(character: string, digitsAllowed: boolean): boolean {
  if (isDigit(character)) return digitsAllowed;
  return (
    (character >= "a" && character <= "z") ||
    (character >= "A" && character <= "Z") ||
    character === "_" ||
    character >= "\u0080"
  );
}

/** A text between the quotes that come next, `"` or `'`. Only the quote it stands in may be escaped in it. */
export function parseString(cursor: Cursor): string {
  const quote = peek(cursor);
  cursor.position += 1;
  let text = "";
  while (!take(cursor, quote)) {
    const next = peek(cursor);
    if (next === "") refuseHere(cursor, `${quote === '"' ? "a double" : "a single"} quote is missing`);
    if (next < " ") refuseHere(cursor, `${JSON.stringify(next)} is not escaped`);
    text += take(cursor, "\\") ? parseEscape(cursor, quote) : takeCharacter(cursor);
  }
  return text;
}

function parseEscape(cursor: Cursor, quote: string): string {
  const letter = peek(cursor);
  if (letter === "u") return parseUnicodeEscape(cursor);
  const character = letter === quote ? quote : ESCAPES.get(letter);
  if (character === undefined) refuseHere(cursor, `the escape ${JSON.stringify(`\\${letter}`)} is unknown`);
  cursor.position += 1;
  return character;
}

/** `\uXXXX`, or two of them that stand for one character beyond the first 65,536. Halves of one are refused. */
function parseUnicodeEscape(cursor: Cursor): string {
  const first = parseFourDigits(cursor);
  if (!isSurrogate(first)) return String.fromCharCode(first);
  if (isHighSurrogate(first) && take(cursor, "\\")) {
    const second = parseFourDigits(cursor);
    if (isLowSurrogate(second)) return String.fromCharCode(first, second);
  }
  return refuseHere(cursor, "half of a surrogate pair");
}

function parseFourDigits(cursor: Cursor): number {
  const digits = cursor.source.slice(cursor.position + 1, cursor.position + 5);
  if (peek(cursor) !== "u" || !FOUR_HEX_DIGITS.test(digits)) {
    refuseHere(cursor, 'an escape of "u" and four hexadecimal digits is missing');
  }
  cursor.position += 5;
  return Number.parseInt(digits, 16);
}

/** Moves past one character, which is two units of a JavaScript text when it is a surrogate pair. */
function takeCharacter(cursor: Cursor): string {
  const { source, position } = cursor;
  const unit = source.charCodeAt(position);
  if (!isSurrogate(unit)) cursor.position += 1;
  else if (isHighSurrogate(unit) && isLowSurrogate(source.charCodeAt(position + 1))) cursor.position += 2;
  else refuseHere(cursor, "half of a surrogate pair");
  return source.slice(position, cursor.position);
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** An index or a bound of a slice: no leading zero, no `-0`, and exact as a JavaScript number. */
export function parseInteger(cursor: Cursor): number {
  const start = cursor.position;
  const isNegative = take(cursor, "-");
  takeWhole(cursor);
  const digits = cursor.source.slice(start, cursor.position);
  const value = Number(digits);
  if (isNegative && value === 0) refuseHere(cursor, '"-0" is no index');
  if (!Number.isSafeInteger(value)) refuseHere(cursor, `${digits} is too large`);
  return value;
}

/** A number of a filter: as in JSON. */
export function parseNumber(cursor: Cursor): number {
  const start = cursor.position;
  take(cursor, "-");
  takeWhole(cursor);
  if (take(cursor, ".")) takeDigits(cursor);
  if (take(cursor, "e") || take(cursor, "E")) {
    if (!take(cursor, "-")) take(cursor, "+");
    takeDigits(cursor);
  }
  return Number(cursor.source.slice(start, cursor.position));
}

function takeWhole(cursor: Cursor): void {
  if (!take(cursor, "0")) takeDigits(cursor);
  else if (isDigit(peek(cursor))) refuseHere(cursor, "a number starts with 0");
}

function takeDigits(cursor: Cursor): void {
  if (!isDigit(peek(cursor))) refuseNext(cursor);
  while (isDigit(peek(cursor))) cursor.position += 1;
}
