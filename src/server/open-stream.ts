import { describeThrown } from "#domain";
import { ApiError } from "./api-error.ts";
import { EventStream } from "./event-stream.ts";
import type { ServerContext, ServerParts } from "./parts.ts";
import { readCursor, type StreamCursor, VOCABULARIES, type Vocabulary } from "./sse-vocabulary.ts";
import { streamResponse } from "./stream-response.ts";

/** The `events` of the query. */
export function readVocabulary(context: ServerContext): Vocabulary {
  const asked = context.req.query("events") ?? "millrace";
  const vocabulary = VOCABULARIES.find((name) => name === asked);
  if (vocabulary !== undefined) return vocabulary;
  throw new ApiError("invalid-request", `events must be one of: ${VOCABULARIES.join(", ")}.`);
}

/** Where a reader wants to go on: `Last-Event-ID`, which a browser sends by itself, or `after`. */
export function readPlace(context: ServerContext): StreamCursor {
  const text = context.req.header("last-event-id") ?? context.req.query("after") ?? "-1";
  const cursor = readCursor(text);
  if (cursor !== undefined) return cursor;
  throw new ApiError("invalid-cursor", "Last-Event-ID or after must be the id of an event of this run.");
}

/** Answers with a stream of a run's events. */
export function openStream(
  context: ServerContext,
  parts: ServerParts,
  wanted: { readonly runId: string; readonly cursor: StreamCursor; readonly vocabulary: Vocabulary },
): Response {
  const release = takePlace(context.get("source"), parts);
  const stream = new EventStream(parts.streams, {
    runId: wanted.runId,
    cursor: wanted.cursor,
    vocabulary: wanted.vocabulary,
    onEnd(how, why) {
      release();
      if (how === "stalled" || how === "failed") {
        parts.metrics.failures.add(`stream-${how}`);
        const message = why === undefined ? {} : { message: describeThrown(why) };
        parts.write("warn", "stream-cut", { runId: wanted.runId, how, ...message });
      }
    },
  });
  return streamResponse(stream, { "x-run-id": wanted.runId });
}

/** Counts a stream as long as it is open. */
function takePlace(source: string, { openStreams, settings }: ServerParts): () => void {
  const open = openStreams.get(source) ?? 0;
  if (open >= settings.limits.streams) {
    throw new ApiError("too-many-streams", `More than ${settings.limits.streams} streams are open. Close one.`, {
      "retry-after": "5",
    });
  }
  openStreams.set(source, open + 1);
  return () => {
    const left = (openStreams.get(source) ?? 1) - 1;
    if (left > 0) openStreams.set(source, left);
    else openStreams.delete(source);
  };
}
