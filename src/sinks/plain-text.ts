// C0 except tab and newline, DEL, C1, and the marks that turn the reading direction: with these a text could move the
// cursor, rewrite what stands above, set the title, write the clipboard or hide itself. Taking single characters out
// needs no memory of earlier ones, so a sequence split over deltas is as harmless as a whole one.
const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]/g;

/** Foreign text as a terminal may be given it: what is printed is what is said, and nothing else happens. */
export function plainText(text: string): string {
  return text.replace(UNSAFE, "");
}

/** The same on one line, cut to a width. */
export function plainLine(text: string, width: number): string {
  const line = plainText(text.replace(/\s+/g, " ")).trim();
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}
