import type { ErrorDetail } from "./error-detail.ts";

/** The default of `limits.replyBytes`: the bytes of one reply's text, thinking and arguments of tool calls. */
export const REPLY_BYTES = 16 * 1024 * 1024;

/**
 * The maximum length of a string (2^29 - 24 characters) less a reserve for what the current read or frame may still add. It
 * applies whatever limit the caller sets.
 */
export const LONGEST_TEXT = 0x1fffffe8 - 0x2000000;

/** What is too large, and the limit. */
export interface ReplyOverflow {
  /** The beginning of the sentence: `one reply has`. */
  readonly what: string;
  readonly limitBytes: number;
  /** The limit cannot be raised: where it comes from, such as `the longest text that Node.js can hold`. */
  readonly fixedBy?: string | undefined;
}

/** The error that ends a run at `limits.replyBytes`. */
export function replyTooLarge({ what, limitBytes, fixedBy }: ReplyOverflow): ErrorDetail {
  const remedy = fixedBy === undefined ? "Raise it, or ask for a shorter answer." : "Ask for a shorter answer.";
  return {
    code: "reply-too-large",
    message: `The run reached ${fixedBy ?? "limits.replyBytes"}: ${what} more than ${limitBytes} bytes. Everything received until then is kept. ${remedy}`,
    terminal: true,
    diagnostic: {
      hint: "A model that does not stop writing is usually stuck in a loop.",
      limitBytes,
    },
  };
}
