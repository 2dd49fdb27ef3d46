import { refuse } from "../refusal.ts";

/** A place in the text of a JSONPath that is being parsed, and what to call that text in a refusal. */
export interface Cursor {
  readonly source: string;
  readonly where: string;
  position: number;
}

/** The next character, or an empty text at the end. */
export function peek(cursor: Cursor): string {
  return cursor.source[cursor.position] ?? "";
}

/** Moves past `text` when it comes next, and says whether it did. */
export function take(cursor: Cursor, text: string): boolean {
  if (!cursor.source.startsWith(text, cursor.position)) return false;
  cursor.position += text.length;
  return true;
}

/** Moves past the first of `texts` that comes next, behind any blanks. When none does, nothing is moved past. */
export function takeBehindBlanks<Text extends string>(cursor: Cursor, texts: readonly Text[]): Text | undefined {
  const start = cursor.position;
  skipBlanks(cursor);
  const found = texts.find((text) => take(cursor, text));
  if (found === undefined) cursor.position = start;
  return found;
}

/** Moves past `text` or refuses the path. */
export function need(cursor: Cursor, text: string): void {
  if (!take(cursor, text)) refuseHere(cursor, `${JSON.stringify(text)} is missing`);
}

export function skipBlanks(cursor: Cursor): void {
  while (isBlank(peek(cursor))) cursor.position += 1;
}

/** The four blanks of RFC 9535; no others, not even those of Unicode. */
export function isBlank(character: string): boolean {
  return character === " " || character === "\t" || character === "\n" || character === "\r";
}

export function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}

/** @throws StartError `invalid-format`, always */
export function refuseNext(cursor: Cursor): never {
  const next = peek(cursor);
  return refuseHere(cursor, next === "" ? "it ends too early" : `${JSON.stringify(next)} is not expected`);
}

/** @throws StartError `invalid-format`, always */
export function refuseHere(cursor: Cursor, problem: string): never {
  const { where, source, position } = cursor;
  const remedy = "See RFC 9535; functions are left out.";
  return refuse(where, source, `is not a JSONPath: ${problem} at position ${position}`, remedy);
}
