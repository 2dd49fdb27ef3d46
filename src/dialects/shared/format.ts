import type { Chunk } from "#domain";
import type { Frame, Framing } from "#wire";

/**
 * The named, stateless description of a stream dialect. One format can serve any number of streams at once, because all
 * state is in the adapters that it creates.
 */
export interface Format {
  readonly name: string;
  readonly framing: Framing;
  /** One line for people: what uses this dialect. */
  readonly description: string;
  /** Creates an adapter for one stream. */
  createAdapter(options?: AdapterOptions): Adapter;
}

/**
 * The stateful decoder of one stream: frames in, chunks out. Pure: no clock and no I/O. Never throws, whatever the
 * input.
 *
 * Text is emitted exactly once: as deltas if the stream sends deltas, otherwise as one delta per whole block; the
 * finished `message` follows, and then its calls. A tool call is a `tool-call` chunk only if its arguments are complete
 * JSON. What is not understood becomes a `notice` of kind `unknown:<type>` with its `raw` frame.
 */
export interface Adapter {
  /** Decodes the next frames, in order. The decoder reports faulty frames and does not pass them on. */
  feed(frames: readonly Frame[]): Chunk[];
  /**
   * Continues with what the last `feed` left for later because it takes long; `[]` when nothing is left. What is left is
   * also returned by the next `feed` or `flush`.
   */
  rest?(): Chunk[];
  /**
   * The stream is over. Returns what was held back and, if the positive end of the dialect never arrived, one terminal
   * `error` (`stream-cut`, or `no-result` for an agent's stream).
   */
  flush(): Chunk[];
  /**
   * A frame was lost here (the decoder has reported it). A call that may lack a part must not be made. Only needed in
   * dialects that send calls in pieces.
   */
  noteGap?(): void;
  /** Resets all state, for another stream. */
  reset(): void;
}

/** The options of `createAdapter`. */
export interface AdapterOptions {
  /** How the stream was obtained, for the `start` item. Default: the dialect's own mode. */
  readonly mode?: "plain" | "control" | "http" | "tape";
  /**
   * Distinguishes our own tools from the backend's. Returns the caller's name of the tool (never a vendor's prefixed
   * one) if we run it, `undefined` if the backend does.
   */
  readonly ownTool?: (name: string) => string | undefined;
  /** The stream contains several runs, each ended by its verdict: a later run may reuse the id of a call. */
  readonly hasSeveralRuns?: boolean;
  /** Every chunk gets the frame it came from. A chunk that is emitted later than its frame was read must carry it. */
  readonly keepRaw?: boolean;
}
