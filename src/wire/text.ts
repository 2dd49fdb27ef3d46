import { joinBytes, NOTHING, viewBytes } from "./bytes.ts";
import type { Frame, Framer } from "./frame.ts";
import { createStrictDecoder, readLoosely, unfinishedSuffix, validRun } from "./utf8.ts";

const BYTE_ORDER_MARK = 0xfeff;

/**
 * A framer for `text`: plain UTF-8, one frame per push with all complete text. No character is split.
 *
 * Bytes that are not UTF-8 are a fault between the text before and the text after them. At most three bytes are kept
 * between pushes, so no limit is needed.
 *
 * @example
 * createTextFramer().push(new TextEncoder().encode("hello")); // [{ kind: "data", text: "hello", … }]
 */
export function createTextFramer(): Framer {
  const decoder = createStrictDecoder();
  let carried: Uint8Array = NOTHING;
  let isAtStart = true;

  function addText(frames: Frame[], text: string): void {
    const hasMark = isAtStart && text.charCodeAt(0) === BYTE_ORDER_MARK;
    isAtStart = false;
    if (!hasMark) frames.push({ kind: "data", name: "", id: "", text, value: undefined });
    else if (text.length > 1) addText(frames, text.slice(1));
  }

  function addFault(frames: Frame[], bytes: Uint8Array): void {
    isAtStart = false;
    const message = "These bytes are not UTF-8.";
    frames.push({ kind: "fault", code: "utf8-decode", message, text: readLoosely(bytes), bytes });
  }

  function read(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    if (bytes.length === 0) return frames;
    try {
      addText(frames, decoder.decode(bytes));
    } catch {
      readPiecewise(frames, bytes);
    }
    return frames;
  }

  function readPiecewise(frames: Frame[], bytes: Uint8Array): void {
    let start = 0;
    while (start < bytes.length) {
      const end = validRun(bytes, start);
      if (end > start) {
        addText(frames, decoder.decode(viewBytes(bytes, start, end)));
      }
      start = end;
      while (start < bytes.length && validRun(bytes, start, 1) === start) start += 1;
      if (start > end) addFault(frames, viewBytes(bytes, end, start));
    }
  }

  return {
    push(bytes) {
      const all = carried.length === 0 ? viewBytes(bytes, 0, bytes.length) : joinBytes([carried, bytes]);
      const whole = all.length - unfinishedSuffix(all);
      carried = whole === all.length ? NOTHING : viewBytes(all, whole, all.length).slice();
      return read(viewBytes(all, 0, whole));
    },
    end() {
      const rest = carried;
      carried = NOTHING;
      return read(rest);
    },
    reset() {
      carried = NOTHING;
      isAtStart = true;
    },
  };
}
