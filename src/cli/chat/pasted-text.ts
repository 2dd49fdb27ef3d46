import { Transform } from "node:stream";

/** What replaces a line end in pasted text while the line is edited. */
export const PASTED_LINE_END = "\u2424";

/** Makes a terminal mark pasted text, and stops it. */
export const PASTE_MARKS_ON = "\u001b[?2004h";
export const PASTE_MARKS_OFF = "\u001b[?2004l";

const BEGIN = "\u001b[200~";
const END = "\u001b[201~";

/**
 * Filters the keys of a terminal and replaces line ends in pasted text, so that the line editor keeps it as one message
 * and sends none of it before Enter.
 */
export function createPasteFilter(): (text: string) => string {
  let isPasting = false;
  let held = "";
  return (text) => {
    let rest = held + text;
    held = "";
    let shown = "";
    while (rest !== "") {
      const mark = isPasting ? END : BEGIN;
      const at = rest.indexOf(mark);
      const part = at === -1 ? withoutTail(rest, mark) : rest.slice(0, at);
      shown += isPasting ? part.replace(/\r\n|\r|\n/g, PASTED_LINE_END) : part;
      if (at === -1) {
        held = rest.slice(part.length);
        break;
      }
      isPasting = !isPasting;
      rest = rest.slice(at + mark.length);
    }
    return shown;
  };
}

/** Removes a possible beginning of a mark. A single escape is a key and must not be delayed. */
function withoutTail(text: string, mark: string): string {
  for (let length = Math.min(mark.length - 1, text.length); length > 1; length -= 1) {
    if (text.endsWith(mark.slice(0, length))) return text.slice(0, -length);
  }
  return text;
}

/** A terminal's input through the filter, in the form a line editor needs. */
export function filterKeys(input: NodeJS.ReadStream): Transform & { setRawMode(isRaw: boolean): unknown } {
  const filter = createPasteFilter();
  const decoder = new TextDecoder();
  const keys = new Transform({
    transform(bytes: Uint8Array | string, _, done) {
      done(null, filter(typeof bytes === "string" ? bytes : decoder.decode(bytes, { stream: true })));
    },
  });
  return Object.assign(keys, { setRawMode: (isRaw: boolean) => input.setRawMode(isRaw) });
}
