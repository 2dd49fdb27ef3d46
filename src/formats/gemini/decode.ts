import {
  type Chunk,
  type ErrorCode,
  type ErrorItem,
  errorItem,
  messageItem,
  type Mode,
  type StopReason,
  startItem,
  toolCallItem,
  type WarningDetail,
  warningItem,
} from "#domain";
import { type DataFrame, type Frame, isRecord, type JsonRecord, ownString, rawOf } from "#wire";
import type { Adapter, AdapterOptions } from "../format.ts";
import { providerError } from "../provider-error.ts";
import {
  jsonDecodeError,
  lateFrameNotice,
  streamCutError,
  unknownNotice,
  unknownStopReason,
  usageNotice,
} from "../stream-faults.ts";
import { readComplaint } from "./errors.ts";
import { decodePart } from "./part.ts";
import { closeGrowing, createReply, dropCalls, type Reply } from "./reply.ts";
import { NO_REASON, readFailure, readStopReason } from "./stop-reason.ts";
import { readUsage } from "./usage.ts";

interface Stream {
  readonly mode: Mode;
  /** What the frames of this `feed` have given so far. */
  chunks: Chunk[];
  /** `ended`: the message is out. `failed`: a terminal error is out, and nothing may follow it. */
  phase: "open" | "ended" | "failed";
  reply: Reply | undefined;
  finishReason: string | undefined;
  /** The last one seen: it comes with every frame, so it is read once, at the end. */
  usageMetadata: JsonRecord | undefined;
  hasOtherCandidate: boolean;
}

/** Never written to. */
const NO_CHUNKS: Chunk[] = [];

/** The adapter for one Gemini stream. */
export function createGeminiAdapter(options: AdapterOptions = {}): Adapter {
  let stream = createStream(options);
  return {
    feed(frames) {
      const chunks: Chunk[] = [];
      stream.chunks = chunks;
      for (const frame of frames) decodeFrame(stream, frame);
      // Not kept: they would live for as long as the stream is silent.
      stream.chunks = NO_CHUNKS;
      return chunks;
    },
    flush() {
      stream.chunks = [];
      endStream(stream);
      return stream.chunks;
    },
    reset() {
      stream = createStream(options);
    },
  };
}

function createStream(options: AdapterOptions): Stream {
  return {
    mode: options.mode ?? "http",
    chunks: NO_CHUNKS,
    phase: "open",
    reply: undefined,
    finishReason: undefined,
    usageMetadata: undefined,
    hasOtherCandidate: false,
  };
}

function decodeFrame(stream: Stream, frame: Frame): void {
  if (stream.phase === "failed" || frame.kind !== "data") return;
  if (stream.phase === "ended") stream.chunks.push(lateFrameNotice(frame));
  else if (frame.value === undefined) stream.chunks.push(jsonDecodeError(frame));
  else if (isRecord(frame.value)) decodeChunk(stream, frame.value, frame);
  else stream.chunks.push(unknownNotice("chunk", frame));
}

function decodeChunk(stream: Stream, chunk: JsonRecord, frame: DataFrame): void {
  if (chunk.error || frame.name === "error") {
    fail(stream, providerError(readComplaint(chunk.error || chunk), frame));
    return;
  }
  if (isRecord(chunk.usageMetadata)) stream.usageMetadata = chunk.usageMetadata;

  const candidates = chunk.candidates;
  // A block counts whatever stands beside it.
  if (isRecord(chunk.promptFeedback) && chunk.promptFeedback.blockReason) {
    fail(stream, blockedError(chunk.promptFeedback, frame));
  } else if (Array.isArray(candidates) && candidates.length > 0) decodeCandidates(stream, candidates, frame);
  else if (!isRecord(chunk.usageMetadata) && !Array.isArray(candidates)) {
    stream.chunks.push(unknownNotice("chunk", frame));
  }
}

/** One candidate is decoded; of the others the reader is told once. */
function decodeCandidates(stream: Stream, candidates: readonly unknown[], frame: DataFrame): void {
  for (let position = 0; position < candidates.length && stream.phase === "open"; position++) {
    const candidate = candidates[position];
    if (isRecord(candidate) && (candidate.index ?? position) === 0) {
      decodeCandidate(stream, candidate, frame);
    } else if (!stream.hasOtherCandidate) {
      stream.hasOtherCandidate = true;
      stream.chunks.push(unknownNotice("candidate", frame, candidate));
    }
  }
}

function startReply(stream: Stream, frame: DataFrame): Reply {
  const chunk = isRecord(frame.value) ? frame.value : {};
  const model = ownString(chunk, "modelVersion") || undefined;
  stream.chunks.push(startItem({ backend: "google", mode: stream.mode, ...(model === undefined ? {} : { model }) }));
  return createReply({ id: ownString(chunk, "responseId") || undefined, model });
}

function decodeCandidate(stream: Stream, candidate: JsonRecord, frame: DataFrame): void {
  const reply = (stream.reply ??= startReply(stream, frame));
  const content = candidate.content;
  const parts = isRecord(content) ? content.parts : undefined;
  if (Array.isArray(parts)) for (const part of parts) decodePart(reply, part, stream.chunks);

  const reason = candidate.finishReason;
  if (typeof reason !== "string" || reason === "" || reason === NO_REASON || reason === stream.finishReason) return;
  const failure = readFailure(reason);
  if (failure !== undefined) return fail(stream, gaveUp(candidate, { reason, code: failure }, frame));
  stream.finishReason = reason;
  const stopReason = readStopReason(reason);
  if (stopReason === "malformed-call") reply.warnings.push(malformedCall(candidate, reason));
  else if (stopReason === "unknown") {
    reply.warnings.push(unknownStopReason(reason));
    stream.chunks.push(unknownNotice("finish-reason", frame, { finishReason: reason }));
  }
}

function gaveUp(
  candidate: JsonRecord,
  { reason, code }: { readonly reason: string; readonly code: ErrorCode },
  frame: DataFrame,
): ErrorItem {
  const said = ownString(candidate, "finishMessage");
  const message = `Gemini gave up on the reply (finishReason ${reason})${said === undefined ? "." : `: ${said}`}`;
  return providerError({ message, code, vendorCode: reason }, frame);
}

function malformedCall(candidate: JsonRecord, finishReason: string): WarningDetail {
  const finishMessage = ownString(candidate, "finishMessage");
  return {
    code: "tool-call-incomplete",
    message: `The model wrote a tool call that Gemini could not read (${finishReason}), so none of its calls was made.`,
    context: { finishReason, ...(finishMessage === undefined ? {} : { finishMessage }) },
  };
}

function blockedError(feedback: JsonRecord, frame: DataFrame): ErrorItem {
  const reason = String(feedback.blockReason);
  const said = ownString(feedback, "blockReasonMessage");
  return errorItem(
    {
      code: "content-filtered",
      message: `Gemini refused the prompt (${reason})${said === undefined ? "" : `: ${said}`}. Change the prompt or the safety settings.`,
      terminal: true,
      diagnostic: { vendorCode: reason },
    },
    { raw: rawOf(frame) },
  );
}

function fail(stream: Stream, error: ErrorItem): void {
  stream.phase = "failed";
  const usage = stream.usageMetadata === undefined ? undefined : readUsage(stream.usageMetadata);
  stream.chunks.push(...usageNotice(usage), error);
}

function endStream(stream: Stream): void {
  const { reply, finishReason, chunks, usageMetadata } = stream;
  if (stream.phase !== "open") return;
  if (reply === undefined || finishReason === undefined) return fail(stream, streamCutError("finishReason"));

  stream.phase = "ended";
  closeGrowing(reply);
  const stopReason = stopReasonOf(finishReason, reply);
  if (stopReason === "malformed-call") dropCalls(reply);
  const usage = usageMetadata === undefined ? undefined : readUsage(usageMetadata);
  chunks.push(
    messageItem({
      id: reply.messageId,
      role: "assistant",
      blocks: reply.blocks,
      stopReason,
      ...((NEEDS_THE_VENDORS_WORD.has(stopReason) || finishReason === "CONTINUATION") && {
        vendorStopReason: finishReason,
      }),
      ...(usage === undefined ? {} : { usage }),
      ...(reply.model === undefined ? {} : { model: reply.model }),
    }),
  );
  for (const call of reply.calls) chunks.push(toolCallItem({ ...call, executedBy: "millrace" }));
  for (const warning of reply.warnings) chunks.push(warningItem(warning));
}

const NEEDS_THE_VENDORS_WORD: ReadonlySet<StopReason> = new Set(["unknown", "content-filter", "malformed-call"]);

function stopReasonOf(finishReason: string, reply: Reply): StopReason {
  const stopReason = readStopReason(finishReason);
  return stopReason === "end-turn" && reply.calls.length > 0 ? "tool-use" : stopReason;
}
