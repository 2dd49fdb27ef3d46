import { plainText } from "./safe-text.ts";

const ASCII = /^[\u0020-\u007e]*$/;
/** East Asian Width W and F (Unicode 16), pictures apart. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;
const PICTURE = /\p{Emoji_Presentation}|\ufe0f|\p{Regional_Indicator}{2}/u;
const SHAPELESS = /^[\p{M}\p{Cf}\p{Cc}]+$/u;

// Stateless, and slow to make.
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * How many columns of a terminal a text takes: two for East Asian characters and pictures, none for marks.
 *
 * @example
 * displayWidth("世界 🙂") // 7
 */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** The text cut to so many columns, with an ellipsis where something was cut off. No character is torn. */
export function cutToWidth(text: string, columns: number): string {
  if (text.length <= columns && ASCII.test(text)) return text;
  let width = 0;
  // Where the text is cut when it turns out too long: the ellipsis needs a column.
  let cut = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    width += graphemeWidth(segment);
    if (width > columns) return `${text.slice(0, cut)}…`;
    if (width < columns) cut = index + segment.length;
  }
  return text;
}

/** Foreign text on one line, cut to so many columns. What is far longer than that is not even looked at. */
export function plainLine(text: string, columns: number): string {
  const most = Math.max(0, columns) * 8 + 256;
  const head = text.length > most ? `${text.slice(0, most)}…` : text;
  return cutToWidth(plainText(head.replace(/\s+/g, " ")).trim(), columns);
}

function graphemeWidth(grapheme: string): number {
  if (grapheme.length === 1 && grapheme >= " " && grapheme <= "~") return 1;
  if (PICTURE.test(grapheme) || WIDE.test(grapheme)) return 2;
  return SHAPELESS.test(grapheme) ? 0 : 1;
}
