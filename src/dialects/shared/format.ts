import type { Chunk } from "#domain";
import type { Frame, Framing } from "#wire";

/**
 * The named, stateless description of a stream dialect. One format serves any number of streams at once, because
 * all state lives in the adapters it makes.
 */
export interface Format {
  readonly name: string;
  readonly framing: Framing;
  /** One line for people: what speaks this dialect. */
  readonly description: string;
  /** A fresh adapter for one stream. */
  createAdapter(options?: AdapterOptions): Adapter;
}

/**
 * The stateful decoder of one stream: frames in, chunks out. Pure: no clock, no I/O, never throws, whatever the input.
 *
 * Text comes exactly once: as deltas when the stream sends deltas, otherwise as one delta per whole block; the
 * finished `message` follows, and behind it its calls. A tool call is a `tool-call` chunk only when its arguments are
 * complete JSON.
 * What is not understood becomes a `notice` of kind `unknown:<type>` with its `raw` frame.
 */
export interface Adapter {
  /** Decodes the next frames, in order. Faulty frames never get here: the decoder reports them. */
  feed(frames: readonly Frame[]): Chunk[];
  /**
   * The stream is over. Gives what was held back, and, when the positive end signal of the dialect never came, one
   * terminal `error` (`stream-cut`, or `no-result` for an agent's stream).
   */
  flush(): Chunk[];
  /**
   * A frame was lost here (the decoder has reported it). No tool call may be made of what is left of one. For dialects
   * that send calls in pieces; one that sends them whole has nothing to do.
   */
  noteGap?(): void;
  /** Forgets everything; ready for another stream. */
  reset(): void;
}

/** What an adapter may be told about the stream it reads. */
export interface AdapterOptions {
  /** How the stream was obtained, for the `start` item. Defaults to the dialect's own. */
  readonly mode?: "plain" | "control" | "http" | "tape";
  /**
   * Tells our own tools apart from the backend's. Returns the caller's name of the tool (never a vendor's prefixed
   * one) when we run it, `undefined` when the backend does.
   */
  readonly ownTool?: (name: string) => string | undefined;
  /** The stream holds several runs, each ended by its verdict: an id of a call may come again in a later one. */
  readonly hasSeveralRuns?: boolean;
  /** Every chunk gets the frame it came from: one that is given later than its frame was read has to bring it along. */
  readonly keepRaw?: boolean;
}
