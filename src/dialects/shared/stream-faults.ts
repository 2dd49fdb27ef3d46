import {
  type ChunkOf,
  type ErrorItem,
  errorItem,
  type NoticeItem,
  noticeItem,
  type Usage,
  type WarningDetail,
} from "#domain";
import { type DataFrame, rawOf } from "#wire";

/** Enough to recognise an HTML page or half an object, and short enough for a log line. */
const SEEN_LENGTH = 2048;

/**
 * The terminal error of a stream that stopped before its positive end. `missing` is the dialect's name for that end.
 */
export function streamCutError(missing: string): ChunkOf<ErrorItem> {
  return errorItem({
    code: "stream-cut",
    message: `The stream ended before its ${missing}: the reply is incomplete. Send the request again.`,
    terminal: true,
    diagnostic: { hint: "The connection or the host broke off in the middle of a reply." },
  });
}

/** The usage of a reply that failed: it is billed all the same. */
export function usageNotice(usage: Usage | undefined): ChunkOf<NoticeItem>[] {
  return usage === undefined || Object.keys(usage).length === 0 ? [] : [noticeItem("usage", { usage })];
}

/** A reply with an unknown stop reason may be cut, so a warning distinguishes it from a plain success. */
export function unknownStopReason(vendorStopReason: string): WarningDetail {
  return {
    code: "unknown-stop-reason",
    message: `The reply stopped for a reason this version does not know: ${JSON.stringify(vendorStopReason)}. It may be incomplete; check it before you rely on it.`,
    context: { vendorStopReason },
  };
}

/** A reply that stopped for tool calls but has none is probably not what the model meant to write. */
export function missingCalls(vendorStopReason: string): WarningDetail {
  return {
    code: "unknown-stop-reason",
    message: `The reply stopped to call a tool (${JSON.stringify(vendorStopReason)}) but contains no call. It may be incomplete; check it before you rely on it.`,
    context: { vendorStopReason },
  };
}

/** A reply that the vendor paused and that was not continued. */
export function unfinishedReply(): WarningDetail {
  return {
    code: "unknown-stop-reason",
    message: "The last reply was paused and not continued. It may be incomplete.",
    context: { stopReason: "pause" },
  };
}

/** A frame that should have been JSON. The stream continues. */
export function jsonDecodeError(frame: DataFrame): ChunkOf<ErrorItem> {
  return errorItem(
    {
      code: "json-decode",
      message: "A frame of the stream is not JSON and was left out.",
      terminal: false,
      diagnostic: { seen: frame.text.slice(0, SEEN_LENGTH) },
    },
    { raw: rawOf(frame) },
  );
}

/** A frame that arrived after the reply was complete. It changes nothing, but is not lost. */
export function lateFrameNotice(frame: DataFrame): ChunkOf<NoticeItem> {
  return noticeItem("late-frame", frame.value ?? frame.text, { raw: rawOf(frame) });
}

/** A frame, or a part of it, that this dialect does not know. */
export function unknownNotice(what: string, frame: DataFrame, data: unknown = frame.value): ChunkOf<NoticeItem> {
  return noticeItem(`unknown:${what}`, data, { raw: rawOf(frame) });
}
