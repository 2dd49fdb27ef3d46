import { type ErrorItem, errorItem, unreachable, type WarningItem, warningItem } from "#domain";
import { type FaultyFrame, MAX_CONSECUTIVE_FAULTS, rawOf } from "#wire";

/** Enough of a frame to recognise what it is, in characters. */
export const SEEN_LENGTH = 2048;

/** A cut last line is kept longer, because it may be most of an answer. */
const TAIL_LENGTH = 65_536;

/** What a frame that could not be read becomes, in its place in the stream. */
export function faultChunk(frame: FaultyFrame, limitBytes: number): ErrorItem | WarningItem {
  const { code, message } = frame;
  const seen = cutText(frame.text, SEEN_LENGTH);
  switch (code) {
    case "json-decode":
    case "utf8-decode":
      return errorItem({ code, message, terminal: false, diagnostic: { seen } }, { raw: rawOf(frame) });
    // Without `raw`: only the head of the frame was kept, and `raw` promises the whole.
    case "line-too-long":
      return errorItem({ code, message, terminal: false, diagnostic: { seen, limitBytes } });
    case "buffer-overflow":
      return errorItem({ code, message, terminal: true, diagnostic: { seen, limitBytes } });
    case "incomplete-last-line":
      return warningItem({ code, message, context: { text: cutText(frame.text, TAIL_LENGTH) } });
    default:
      return unreachable(code);
  }
}

/** The error that ends a stream in which too many frames in a row could not be read. */
export function tooManyFaultsError(frame: FaultyFrame): ErrorItem {
  const seen = cutText(frame.text, SEEN_LENGTH);
  return errorItem(
    {
      code: "too-many-decode-errors",
      message: `${MAX_CONSECUTIVE_FAULTS} frames in a row could not be read. ${frame.message}`,
      terminal: true,
      diagnostic: {
        hint: "This is probably not the stream that was expected.",
        troubleshooting: "Look at what was seen: a shell banner, an HTML page, or another format.",
        seen,
        count: MAX_CONSECUTIVE_FAULTS,
        lastNonJsonLine: seen,
      },
    },
    frame.code === "line-too-long" ? {} : { raw: rawOf(frame) },
  );
}

/** The beginning of a text, never half a character. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? maxLength - 1 : maxLength);
}
