// C0 except tab and newline, DEL, C1, and the marks that turn the reading direction: with these a text could move the
// cursor, rewrite what stands above, set the title, write the clipboard or hide itself. Taking single characters out
// needs no memory of earlier ones, so a sequence split over deltas is as harmless as a whole one.
const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]/g;

/**
 * Foreign text as a terminal may be given it: what is printed is what is said, and nothing else happens.
 *
 * @example
 * plainText("\u001b]0;title\u0007Hello") // "]0;titleHello"
 */
export function plainText(text: string): string {
  return text.replace(UNSAFE, "");
}

/** The same on one line, cut to a width in characters. */
export function plainLine(text: string, width: number): string {
  const line = plainText(text.replace(/\s+/g, " ")).trim();
  if (line.length <= width) return line;
  const end = Math.max(0, width - 1);
  // Not in the middle of a character.
  return `${line.slice(0, isHighSurrogate(line.charCodeAt(end - 1)) ? end - 1 : end)}…`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** JSON whose texts hold no such character but its escape: it says the same. */
export function escapeUnsafe(json: string): string {
  return json.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
