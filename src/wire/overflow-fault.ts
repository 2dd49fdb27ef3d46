import type { FaultyFrame, WireLimits } from "./frame.ts";
import { readLoosely } from "./utf8.ts";

/** The fault of a line or an event over the limit; `head` is its beginning. */
export function overflowFault(head: Uint8Array, limits: WireLimits): FaultyFrame {
  const isEnd = limits.overflow === "end";
  return {
    kind: "fault",
    code: isEnd ? "buffer-overflow" : "line-too-long",
    message: isEnd
      ? `A line is longer than ${limits.maxLineBytes} bytes; the stream cannot be read any further. Raise maxLineBytes if such lines are expected.`
      : `A line is longer than ${limits.maxLineBytes} bytes and was skipped. Raise maxLineBytes to read it.`,
    text: readLoosely(head),
    bytes: head,
  };
}
