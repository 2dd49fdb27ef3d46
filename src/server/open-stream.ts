import { describeThrown } from "#domain";
import { ApiError } from "./api-error.ts";
import { EventStream } from "./event-stream.ts";
import type { ServerContext, ServerParts } from "./parts.ts";
import { readCursor, type StreamCursor, VOCABULARIES, type Vocabulary } from "./sse-vocabulary.ts";
import { streamResponse } from "./stream-response.ts";

/** Reads the query parameter `events`. */
export function readVocabulary(context: ServerContext): Vocabulary {
  const asked = context.req.query("events") ?? "millrace";
  const vocabulary = VOCABULARIES.find((name) => name === asked);
  if (vocabulary !== undefined) return vocabulary;
  throw new ApiError("invalid-request", `events must be one of: ${VOCABULARIES.join(", ")}.`);
}

/** The cursor of a reader: `Last-Event-ID`, which a browser sends by itself, or `after`. */
export function readPlace(context: ServerContext): StreamCursor {
  const text = context.req.header("last-event-id") ?? context.req.query("after") ?? "-1";
  const cursor = readCursor(text);
  if (cursor !== undefined) return cursor;
  throw new ApiError("invalid-cursor", "Last-Event-ID or after must be the id of an event of this run.");
}

/** Responds with a stream of a run's events. `release` gives the place back that was taken for it. */
export function openStream(
  parts: ServerParts,
  wanted: { readonly runId: string; readonly cursor: StreamCursor; readonly vocabulary: Vocabulary },
  release: () => void,
): Response {
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

/**
 * Counts a stream until the returned function is called.
 * @throws ApiError `too-many-streams`.
 */
export function takePlace(context: ServerContext, { openStreams, settings, others }: ServerParts): () => void {
  const { streams, streamsPerTenant } = settings.limits;
  const { bySource, byTenant } = openStreams;
  const source = context.get("source");
  const tenant = context.get("tenant");
  if ((bySource.get(source) ?? 0) + others.count("streams", source) >= streams)
    throw tooMany(`More than ${streams} streams are open`);
  if ((byTenant.get(tenant) ?? 0) + others.count("tenantStreams", tenant) >= streamsPerTenant) {
    throw tooMany(`Your tenant has more than ${streamsPerTenant} streams open (limits.streamsPerTenant)`);
  }
  const release = [add(bySource, source), add(byTenant, tenant)];
  return () => release.forEach((one) => one());
}

function tooMany(what: string): ApiError {
  return new ApiError("too-many-streams", `${what}. Close one.`, { "retry-after": "5" });
}

function add(counts: Map<string, number>, key: string): () => void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
  return () => {
    const left = (counts.get(key) ?? 1) - 1;
    if (left > 0) counts.set(key, left);
    else counts.delete(key);
  };
}
