/** Colour markers of templates, and the cleaning of values that are printed on a terminal. */

const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

/** The codes of "select graphic rendition" (ECMA-48, 8.3.117) by marker name. */
const CODES: ReadonlyMap<string, number> = new Map<string, number>([
  ["reset", 0],
  ["bold", 1],
  ["dim", 2],
  ["italic", 3],
  ["underline", 4],
  ["blink", 5],
  ["inverse", 7],
  ["hidden", 8],
  ["strikethrough", 9],
  ["gray", 90],
  ["grey", 90],
  ["bg_gray", 100],
  ["bg_grey", 100],
  ...COLOURS.flatMap((colour, index): [string, number][] => [
    [colour, 30 + index],
    [`bright_${colour}`, 90 + index],
    [`bright${colour}`, 90 + index],
    [`bg_${colour}`, 40 + index],
    [`bg${colour}`, 40 + index],
    [`bg_bright_${colour}`, 100 + index],
  ]),
]);

export const SGR_RESET = "\u001b[0m";

/** The escape sequence of a marker (`red` for `%red%`), or `undefined` if there is no such marker. */
export function markerSequence(name: string): string | undefined {
  const code = CODES.get(name.toLowerCase());
  return code === undefined ? undefined : `\u001b[${code}m`;
}

/** C0 without tab and newline, DEL, C1, and the characters that change the writing direction. */
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
/** Characters that JSON text does not escape but a terminal interprets. */
const UNPRINTABLE_IN_JSON = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Cleans a value for a terminal: nothing in it can move the cursor, set a title or touch the clipboard. */
export function stripUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, "");
}

/** The same for JSON text, where the characters are escaped instead of removed. */
export function escapeUnprintable(json: string): string {
  return json.replace(
    UNPRINTABLE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The index of the first character that is not allowed in a template; -1 if there is none. */
export function findUnprintable(text: string): number {
  return text.search(UNPRINTABLE);
}
