import { plainText } from "./safe-text.ts";

/** Characters of one column: Latin, Greek, Cyrillic, punctuation, arrows, lines. Most texts have no others. */
const NARROW =
  /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u257f\u2713\u2717]*$/;
/** East Asian Width W and F (Unicode 16), except pictures. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;
const PICTURE = /\p{Emoji_Presentation}|\ufe0f|\p{Regional_Indicator}{2}/u;
const SHAPELESS = /^[\p{M}\p{Cf}\p{Cc}\u1160-\u11ff]+$/u;
/**
 * What a person sees as one character: a letter with its marks, a flag, a picture made of several. A regular
 * expression, because creating an `Intl.Segmenter` takes longer than starting a program.
 */
const CHARACTER =
  /(?:\p{Regional_Indicator}{2}|\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)?(?:\u200d\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)?)*|.)[\p{M}\u1160-\u11ff\u200c-\u200d]*/gsu;

/**
 * The number of terminal columns of a text: two for East Asian characters and pictures, none for combining marks.
 *
 * @example
 * displayWidth("世界 🙂") // 7
 */
export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const [character] of text.matchAll(CHARACTER)) width += characterWidth(character);
  return width;
}

/** Cuts text to a number of columns and marks the cut with an ellipsis. Characters are never split. */
export function cutToWidth(text: string, columns: number): string {
  if (NARROW.test(text)) return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`;
  let width = 0;
  // Where to cut if the text is too long: the ellipsis needs a column.
  let cut = 0;
  for (const { 0: character, index } of text.matchAll(CHARACTER)) {
    width += characterWidth(character);
    if (width > columns) return `${text.slice(0, cut)}…`;
    if (width < columns) cut = index + character.length;
  }
  return text;
}

/**
 * Untrusted text on one line, cut to a number of columns. Text far beyond that is not even examined.
 *
 * @example
 * plainLine("two\nlines", 8) // "two lin…"
 */
export function plainLine(text: string, columns: number): string {
  const most = Math.max(0, columns) * 8 + 256;
  const head = text.length > most ? `${text.slice(0, most)}…` : text;
  return cutToWidth(plainText(head.replace(/\s+/g, " ")).trim(), columns);
}

function characterWidth(character: string): number {
  if (character.length === 1 && character >= " " && character <= "~") return 1;
  if (PICTURE.test(character) || WIDE.test(character)) return 2;
  return SHAPELESS.test(character) ? 0 : 1;
}
