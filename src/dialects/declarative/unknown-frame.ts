import type { NoticeItem } from "#domain";
import { type DataFrame, isRecord, ownString } from "#wire";
import { unknownNotice } from "../shared/stream-faults.ts";

/** The kind of a notice is a label; what is longer than a word is cut, and the raw frame keeps it. */
const MAX_TYPE_LENGTH = 80;

/** A frame that means nothing to the format, kept whole as `unknown:<type>`. */
export function unknownFrame(frame: DataFrame, type = typeOf(frame)): NoticeItem {
  return unknownNotice(type.slice(0, MAX_TYPE_LENGTH), frame, frame.value === undefined ? frame.text : frame.value);
}

/** What a frame calls itself: its `type`, the name of its SSE event, or just a frame. */
function typeOf(frame: DataFrame): string {
  const type = isRecord(frame.value) ? ownString(frame.value, "type") : undefined;
  return type ?? (frame.name === "" ? "frame" : frame.name);
}
