import type { Raw } from "#domain";

/** The rule that cuts bytes into frames. */
export type Framing = "ndjson" | "sse" | "text";

/** One whole unit cut by a framing, or the reason why it could not be read. Faults are values; no framer throws. */
export type Frame = DataFrame | FaultyFrame;

/** A frame that could be read. */
export interface DataFrame {
  readonly kind: "data";
  /** The SSE event name; `""` when there is none. */
  readonly name: string;
  /** The SSE event id; `""` when there is none. */
  readonly id: string;
  /** The line, the SSE data, or the piece of text. */
  readonly text: string;
  /** `text` parsed as JSON; `undefined` if it is not JSON (in `ndjson`, that is a fault instead). */
  readonly value: unknown;
}

/** Why a frame could not be read. */
export type FaultCode =
  /** A line that is not JSON. The next line is read as usual. */
  | "json-decode"
  /** A line that is not UTF-8; `bytes` holds it unchanged. */
  | "utf8-decode"
  /** A line over the limit was skipped; reading continues after it (`overflow: "skip"`). */
  | "line-too-long"
  /** A line over the limit ended the stream (`overflow: "end"`, the default). */
  | "buffer-overflow"
  /** The text after the last line end, if it is not a whole frame. */
  | "incomplete-last-line";

/** A frame that could not be read. */
export interface FaultyFrame {
  readonly kind: "fault";
  readonly code: FaultCode;
  /** What is wrong with it, for people. */
  readonly message: string;
  /** Its text as far as it could be read; at most a few KB for an over-long line. */
  readonly text: string;
  readonly bytes: Uint8Array;
}

/**
 * Converts bytes to frames, as a pure push parser. The result does not depend on how the bytes are split.
 *
 * Memory is bounded by the limits, not by the input. After a `buffer-overflow` every `push` returns `[]` until `reset`.
 */
export interface Framer {
  /**
   * Returns the frames that these bytes complete. The framer keeps no reference to `bytes`, but the bytes of a returned
   * fault may be a view of them.
   */
  push(bytes: Uint8Array): Frame[];
  /** Ends the stream: returns the unterminated tail as a frame if it is a whole one, otherwise as a fault. */
  end(): Frame[];
  /** Clears all state, for another stream. */
  reset(): void;
}

export interface WireLimits {
  /** The longest line or SSE event, in bytes, without its line end. Exactly the limit is allowed. */
  readonly maxLineBytes: number;
  /** What happens on a line over the limit: the stream ends (default), or the line is skipped up to its end. */
  readonly overflow: "end" | "skip";
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A frame as the `raw` of an event. Its bytes are copied, so that keeping it does not keep the whole read buffer alive.
 * The bytes of a data frame are exactly the UTF-8 of its text, because only UTF-8 is read as text.
 */
export function rawOf(frame: Frame): Raw {
  if (frame.kind === "fault") {
    return { json: frame.code === "utf8-decode" ? "" : frame.text, bytes: frame.bytes.slice() };
  }
  const bytes = encoder.encode(frame.text);
  return { json: decoder.decode(bytes), bytes };
}
