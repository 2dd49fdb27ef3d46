import type { AgentEvent } from "#domain";
import type { EventBatch } from "#sessions";
import { createSseFrames, type ReportOptions, SSE_VOCABULARIES, type SseVocabulary } from "#views";

/** The vocabularies of a stream. */
export const VOCABULARIES = SSE_VOCABULARIES;
export type Vocabulary = SseVocabulary;

/**
 * The position of a reader: the number of the last event it has seen and, in a vocabulary with several frames per
 * event, how many of those frames.
 */
export interface StreamCursor {
  readonly seq: number;
  readonly frames: number | undefined;
}

export const FROM_THE_START: StreamCursor = { seq: -1, frames: undefined };

/** Parses a cursor from `Last-Event-ID` or `after`; `undefined` if it is not valid. */
export function readCursor(text: string): StreamCursor | undefined {
  const match = /^(-1|\d{1,15})(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) return undefined;
  return { seq: Number(match[1]), frames: match[2] === undefined ? undefined : Number(match[2]) };
}

/** Encodes batches of events as frames. One encoder serves one reader. */
export interface FrameEncoder {
  /** Where in the log the encoder has to begin: a view rebuilds its state from the start. */
  readonly readFrom: number;
  /** The frames in pieces, each encoded when it is requested. Iterate to the end before the next batch. */
  encode(batch: EventBatch): Iterable<string>;
}

/** Creates the encoder of another vocabulary. */
export function createFrameEncoder(
  vocabulary: Exclude<Vocabulary, "millrace">,
  cursor: StreamCursor,
  reports: ReportOptions = {},
): FrameEncoder {
  const frames = createSseFrames(vocabulary, reports);
  const encodeEvent = (event: AgentEvent): readonly Iterable<string>[] => {
    const slices = frames.slices(event);
    if (event.seq > cursor.seq) return slices;
    // Already seen, completely or up to the number of frames in the cursor.
    return event.seq < cursor.seq || cursor.frames === undefined ? [] : slices.slice(cursor.frames);
  };
  function* encode(batch: EventBatch): Generator<string, undefined> {
    for (const event of batch) for (const frame of encodeEvent(event)) yield* frame;
    return undefined;
  }
  return { readFrom: -1, encode };
}
