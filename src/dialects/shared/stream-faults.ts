import { type ErrorItem, errorItem, type NoticeItem, noticeItem, type Usage, type WarningDetail } from "#domain";
import { type DataFrame, rawOf } from "#wire";

/** Enough to recognise a page of HTML or half an object, little enough for a log line. */
const SEEN_LENGTH = 2048;

/** The terminal error of a stream that stopped before its positive end. `missing` is the dialect's name for that end. */
export function streamCutError(missing: string): ErrorItem {
  return errorItem({
    code: "stream-cut",
    message: `The stream ended before its ${missing}: the reply is not whole. Send the request again.`,
    terminal: true,
    diagnostic: { hint: "The connection or the host broke off in the middle of a reply." },
  });
}

/** What a reply that came to nothing has used: it is paid for all the same. */
export function usageNotice(usage: Usage | undefined): NoticeItem[] {
  return usage === undefined || Object.keys(usage).length === 0 ? [] : [noticeItem("usage", { usage })];
}

/** A reply that stopped for a reason nobody here has heard of may be cut: it is told apart from a plain success. */
export function unknownStopReason(vendorStopReason: string): WarningDetail {
  return {
    code: "unknown-stop-reason",
    message: `The reply stopped for a reason this version does not know: ${JSON.stringify(vendorStopReason)}. It may not be whole; look at it before you rely on it.`,
    context: { vendorStopReason },
  };
}

/** A reply that stopped in order to call tools, and calls none, is not what its model meant to write. */
export function missingCalls(vendorStopReason: string): WarningDetail {
  return {
    code: "unknown-stop-reason",
    message: `The reply stopped to call a tool (${JSON.stringify(vendorStopReason)}) and holds no call. It may not be whole; look at it before you rely on it.`,
    context: { vendorStopReason },
  };
}

/** A reply that its vendor only interrupted, and that nobody went on with. */
export function unfinishedReply(): WarningDetail {
  return {
    code: "unknown-stop-reason",
    message: "The last reply was only paused, and nobody went on with it. It may not be whole.",
    context: { stopReason: "pause" },
  };
}

/** A frame that should have been JSON. The stream goes on. */
export function jsonDecodeError(frame: DataFrame): ErrorItem {
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

/** A frame that came after the reply was whole. It changes nothing, and it is not lost. */
export function lateFrameNotice(frame: DataFrame): NoticeItem {
  return noticeItem("late-frame", frame.value ?? frame.text, { raw: rawOf(frame) });
}

/** Something this dialect does not know, as it came. */
export function unknownNotice(what: string, frame: DataFrame, data: unknown = frame.value): NoticeItem {
  return noticeItem(`unknown:${what}`, data, { raw: rawOf(frame) });
}
