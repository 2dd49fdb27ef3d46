import type { Raw } from "#domain";

/** The rule that cuts bytes into frames. */
export type Framing = "ndjson" | "sse" | "text";

/** One whole unit cut by a framing, or the reason why one could not be read. Faults are values; no framer throws. */
export type Frame = DataFrame | FaultyFrame;

export interface DataFrame {
  readonly kind: "data";
  /** The SSE event name; `""` when there is none. */
  readonly name: string;
  /** The SSE event id; `""` when there is none. */
  readonly id: string;
  /** The line, the SSE data, or the piece of text. */
  readonly text: string;
  /** `text` read as JSON; `undefined` when it is not JSON (an `ndjson` frame that is not JSON is a fault instead). */
  readonly value: unknown;
}

export type FaultCode =
  /** A line that is not JSON. The next line is read as usual. */
  | "json-decode"
  /** A line that is not UTF-8; `bytes` holds it untouched, nothing was replaced. */
  | "utf8-decode"
  /** A line over the limit was skipped; reading goes on behind it (`overflow: "skip"`). */
  | "line-too-long"
  /** A line over the limit; the framer is over (`overflow: "end"`, the default). */
  | "buffer-overflow"
  /** What stood after the last line end and is not a whole frame. */
  | "incomplete-last-line";

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
 * A pure push machine from bytes to frames. The same bytes give the same frames however they are cut.
 *
 * Memory is bounded by the limits, not by the input. After a `buffer-overflow` every `push` returns `[]` until `reset`.
 */
export interface Framer {
  /** Takes the next bytes and returns the frames they completed. The framer never keeps a reference to `bytes` it can be surprised by. */
  push(bytes: Uint8Array): Frame[];
  /** The stream is over: the unterminated tail as a frame if it is a whole one, otherwise as a fault. */
  end(): Frame[];
  /** Forgets everything; ready for another stream. */
  reset(): void;
}

export interface WireLimits {
  /** Longest line or SSE event, in bytes, without its line end. At exactly the limit it still passes. */
  readonly maxLineBytes: number;
  /** What a line over the limit does: end the stream (default), or be skipped up to the next line end. */
  readonly overflow: "end" | "skip";
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A frame as `raw` of an event: copied, so that keeping one does not keep everything alive that was read with it. The
 * bytes of a frame that was read are exactly those of its text: nothing but UTF-8 is ever read as text.
 */
export function rawOf(frame: Frame): Raw {
  if (frame.kind === "fault") {
    return { json: frame.code === "utf8-decode" ? "" : frame.text, bytes: frame.bytes.slice() };
  }
  const bytes = encoder.encode(frame.text);
  return { json: decoder.decode(bytes), bytes };
}
