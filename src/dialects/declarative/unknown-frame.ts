import type { ChunkOf, NoticeItem } from "#domain";
import { type DataFrame, isRecord, ownString } from "#wire";
import { unknownNotice } from "../shared/stream-faults.ts";

/** The kind of a notice is a label, so a longer type is cut; the raw frame keeps it whole. */
const MAX_TYPE_LENGTH = 80;

/** A frame that the format does not know, kept whole as `unknown:<type>`. */
export function unknownFrame(frame: DataFrame, type = typeOf(frame)): ChunkOf<NoticeItem> {
  return unknownNotice(type.slice(0, MAX_TYPE_LENGTH), frame, frame.value === undefined ? frame.text : frame.value);
}

/** The name of a frame: its `type`, the name of its SSE event, or "frame". */
function typeOf(frame: DataFrame): string {
  const type = isRecord(frame.value) ? ownString(frame.value, "type") : undefined;
  return type ?? (frame.name === "" ? "frame" : frame.name);
}
