import type { AgentEvent } from "#domain";
import type { EventBatch } from "#sessions";
import { createSseFrames, type ReportOptions, SSE_VOCABULARIES, type SseVocabulary } from "#views";

/** The words a stream can be told in. */
export const VOCABULARIES = SSE_VOCABULARIES;
export type Vocabulary = SseVocabulary;

/**
 * Where a reader stands: the number of the last event it has seen and, in a vocabulary that tells one event in
 * several frames, how many of those frames.
 */
export interface StreamCursor {
  readonly seq: number;
  readonly frames: number | undefined;
}

export const FROM_THE_START: StreamCursor = { seq: -1, frames: undefined };

/** A cursor as it stands in `Last-Event-ID` or `after`; `undefined` when it is none. */
export function readCursor(text: string): StreamCursor | undefined {
  const match = /^(-1|\d{1,15})(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) return undefined;
  return { seq: Number(match[1]), frames: match[2] === undefined ? undefined : Number(match[2]) };
}

/** Tells batches of events as frames. One teller serves one reader. */
export interface FrameEncoder {
  /** Where in the log the teller has to begin: a view rebuilds its memory from the start. */
  readonly readFrom: number;
  /** The frames in pieces, each written when it is asked for. To be asked to the end before the next batch. */
  tell(batch: EventBatch): Iterable<string>;
}

/** Creates the teller of another vocabulary. */
export function createFrameEncoder(
  vocabulary: Exclude<Vocabulary, "millrace">,
  cursor: StreamCursor,
  reports: ReportOptions = {},
): FrameEncoder {
  const frames = createSseFrames(vocabulary, reports);
  const tellEvent = (event: AgentEvent): readonly Iterable<string>[] => {
    const told = frames.slices(event);
    if (event.seq > cursor.seq) return told;
    // Seen whole, or as far as the cursor says.
    return event.seq < cursor.seq || cursor.frames === undefined ? [] : told.slice(cursor.frames);
  };
  function* tell(batch: EventBatch): Generator<string, undefined> {
    for (const event of batch) for (const frame of tellEvent(event)) yield* frame;
    return undefined;
  }
  return { readFrom: -1, tell };
}
