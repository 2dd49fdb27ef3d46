import { type ChunkOf, type ErrorItem, errorItem, unreachable, type WarningItem, warningItem } from "#domain";
import { type FaultyFrame, MAX_CONSECUTIVE_FAULTS, rawOf } from "#wire";

/** Enough characters to recognise a frame. */
export const SEEN_LENGTH = 2048;

/** A cut last line is kept longer, because it may contain most of an answer. */
const TAIL_LENGTH = 65_536;

/** The chunk for a frame that could not be read, in its position in the stream. */
export function faultChunk(frame: FaultyFrame, limitBytes: number): ChunkOf<ErrorItem> | ChunkOf<WarningItem> {
  const { code, message } = frame;
  const seen = cutText(frame.text, SEEN_LENGTH);
  switch (code) {
    case "json-decode":
    case "utf8-decode":
      return errorItem({ code, message, terminal: false, diagnostic: { seen } }, { raw: rawOf(frame) });
    // Without `raw`: only the head of the frame was kept, and `raw` promises the whole frame.
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

/** The error that ends a stream after too many unreadable frames in a row. */
export function tooManyFaultsError(frame: FaultyFrame): ChunkOf<ErrorItem> {
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

/** The beginning of a text, without splitting a character. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? maxLength - 1 : maxLength);
}
