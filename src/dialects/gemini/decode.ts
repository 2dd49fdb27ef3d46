import { type Chunk, type ChunkOf, type ErrorItem, type MediaBlock, type Mode, startItem } from "#domain";
import { type DataFrame, type Frame, isRecord, type JsonRecord, ownRecord, ownString } from "#wire";
import type { Adapter, AdapterOptions, Format } from "../shared/format.ts";
import { providerError } from "../shared/provider-error.ts";
import {
  jsonDecodeError,
  lateFrameNotice,
  streamCutError,
  unknownNotice,
  unknownStopReason,
  usageNotice,
} from "../shared/stream-faults.ts";
import {
  blockedError,
  finishReply,
  gaveUp,
  malformedCall,
  NO_REASON,
  readComplaint,
  readFailure,
  readStopReason,
  readUsage,
} from "./end.ts";
import {
  addBlock,
  addCall,
  createReply,
  inSteps,
  type Reply,
  signThinking,
  takeCallId,
  writeInput,
  writeText,
  writeThinking,
} from "./reply.ts";

/**
 * The stream of Gemini's `streamGenerateContent?alt=sse`.
 *
 * A reply is complete when a `finishReason` has arrived and the stream is over. No frame marks the end, and some
 * versions put a reason on every frame, so the `message` is emitted by `flush`.
 *
 * @example
 * const decoder = createDecoder(gemini)
 * for (const chunk of decoder.push(bytes)) console.log(chunk.type)
 */
export const gemini: Format = {
  name: "gemini",
  framing: "sse",
  description: "Google Gemini, streamGenerateContent with alt=sse",
  createAdapter: createGeminiAdapter,
};

interface Stream {
  readonly mode: Mode;
  readonly keepRaw: boolean;
  /** The steps that `rest` has not returned yet. */
  rest: Generator<Chunk[], undefined> | undefined;
  /** `ended`: the message was emitted. `failed`: a terminal error was emitted, and nothing may follow it. */
  phase: "open" | "ended" | "failed";
  reply: Reply | undefined;
  finishReason: string | undefined;
  /** The latest one. Every frame has one, so it is read once, at the end. */
  usageMetadata: JsonRecord | undefined;
  hasOtherCandidate: boolean;
}

/** The adapter for one Gemini stream. */
function createGeminiAdapter(options: AdapterOptions = {}): Adapter {
  let stream = createStream(options);
  return {
    feed(frames) {
      const chunks = takeRest(stream);
      for (const frame of frames) decodeFrame(stream, frame, chunks);
      return stream.reply === undefined || stream.reply.long.length === 0
        ? chunks
        : delay(stream, stream.reply, chunks);
    },
    rest: () => stream.rest?.next().value ?? [],
    flush() {
      const chunks = takeRest(stream);
      endStream(stream, chunks);
      return chunks;
    },
    reset() {
      stream = createStream(options);
    },
  };
}

/** Returns the first step, and keeps the others for `rest`. With `keepRaw` the chunks have to come with their frame. */
function delay(stream: Stream, reply: Reply, chunks: readonly Chunk[]): Chunk[] {
  stream.rest = inSteps(chunks, reply.long);
  reply.long = [];
  return stream.keepRaw ? takeRest(stream) : (stream.rest.next().value ?? []);
}

function takeRest(stream: Stream): Chunk[] {
  const rest = stream.rest === undefined ? [] : [...stream.rest].flat();
  stream.rest = undefined;
  return rest;
}

function createStream(options: AdapterOptions): Stream {
  return {
    mode: options.mode ?? "http",
    keepRaw: options.keepRaw === true,
    rest: undefined,
    phase: "open",
    reply: undefined,
    finishReason: undefined,
    usageMetadata: undefined,
    hasOtherCandidate: false,
  };
}

function decodeFrame(stream: Stream, frame: Frame, chunks: Chunk[]): void {
  if (stream.phase === "failed" || frame.kind !== "data") return;
  if (stream.phase === "ended") chunks.push(lateFrameNotice(frame));
  else if (frame.value === undefined) chunks.push(jsonDecodeError(frame));
  else if (isRecord(frame.value)) decodeChunk(stream, frame.value, frame, chunks);
  else chunks.push(unknownNotice("chunk", frame));
}

function decodeChunk(stream: Stream, chunk: JsonRecord, frame: DataFrame, chunks: Chunk[]): void {
  if (chunk.error || frame.name === "error") {
    fail(stream, providerError(readComplaint(chunk.error || chunk), frame), chunks);
    return;
  }
  if (isRecord(chunk.usageMetadata)) stream.usageMetadata = chunk.usageMetadata;

  const candidates = chunk.candidates;
  // A block reason wins over anything else in the frame.
  if (isRecord(chunk.promptFeedback) && chunk.promptFeedback.blockReason) {
    fail(stream, blockedError(chunk.promptFeedback, frame), chunks);
  } else if (Array.isArray(candidates) && candidates.length > 0) decodeCandidates(stream, candidates, frame, chunks);
  else if (!isRecord(chunk.usageMetadata) && !Array.isArray(candidates)) {
    chunks.push(unknownNotice("chunk", frame));
  }
}

/** Decodes the first candidate; the others are reported once. */
function decodeCandidates(stream: Stream, candidates: readonly unknown[], frame: DataFrame, chunks: Chunk[]): void {
  for (let position = 0; position < candidates.length && stream.phase === "open"; position++) {
    const candidate = candidates[position];
    if (isRecord(candidate) && (candidate.index ?? position) === 0) {
      decodeCandidate(stream, candidate, frame, chunks);
    } else if (!stream.hasOtherCandidate) {
      stream.hasOtherCandidate = true;
      chunks.push(unknownNotice("candidate", frame, candidate));
    }
  }
}

function startReply(stream: Stream, frame: DataFrame, chunks: Chunk[]): Reply {
  const chunk = isRecord(frame.value) ? frame.value : {};
  const model = ownString(chunk, "modelVersion") || undefined;
  chunks.push(startItem({ backend: "google", mode: stream.mode, ...(model === undefined ? {} : { model }) }));
  return createReply({ id: ownString(chunk, "responseId") || undefined, model });
}

function decodeCandidate(stream: Stream, candidate: JsonRecord, frame: DataFrame, chunks: Chunk[]): void {
  const reply = (stream.reply ??= startReply(stream, frame, chunks));
  const content = candidate.content;
  const parts = isRecord(content) ? content.parts : undefined;
  if (Array.isArray(parts)) for (const part of parts) decodePart(reply, part, chunks);

  const reason = candidate.finishReason;
  if (typeof reason !== "string" || reason === "" || reason === NO_REASON || reason === stream.finishReason) return;
  const failure = readFailure(reason);
  if (failure !== undefined) return fail(stream, gaveUp(candidate, { reason, code: failure }, frame), chunks);
  stream.finishReason = reason;
  const stopReason = readStopReason(reason);
  if (stopReason === "malformed-call") reply.warnings.push(malformedCall(candidate, reason));
  else if (stopReason === "unknown") {
    reply.warnings.push(unknownStopReason(reason));
    chunks.push(unknownNotice("finish-reason", frame, { finishReason: reason }));
  }
}

function fail(stream: Stream, error: ChunkOf<ErrorItem>, chunks: Chunk[]): void {
  stream.phase = "failed";
  const usage = stream.usageMetadata === undefined ? undefined : readUsage(stream.usageMetadata);
  chunks.push(...usageNotice(usage), error);
}

function endStream(stream: Stream, chunks: Chunk[]): void {
  const { reply, finishReason, usageMetadata } = stream;
  if (stream.phase !== "open") return;
  if (reply === undefined || finishReason === undefined) return fail(stream, streamCutError("finishReason"), chunks);

  stream.phase = "ended";
  finishReply(reply, { finishReason, usageMetadata }, chunks);
}

/**
 * Writes one part of a candidate's content into the reply.
 *
 * A `thoughtSignature` must go back to Gemini on the part it came with, or the next request is refused. So:
 * - on a thought, it is the `signature` of that thinking block, and the next thought begins a new one;
 * - on a function call or on media, an empty thinking block with the signature precedes that block;
 * - on text, where it comes with or after the last piece, an unknown block with the raw part
 *   `{ text: "", thoughtSignature }` follows the text: the form that Gemini itself uses.
 */
export function decodePart(reply: Reply, part: unknown, chunks: Chunk[]): void {
  if (!isRecord(part)) {
    addBlock(reply, { type: "unknown", raw: part });
    return;
  }
  // The fields are read directly, not through a reader: text parts are the hot path.
  const { text, thoughtSignature } = part;
  const signature = typeof thoughtSignature === "string" && thoughtSignature !== "" ? thoughtSignature : undefined;
  if (typeof text === "string") {
    if (part.thought === true) writeThought(reply, { text, signature }, chunks);
    else writeAnswer(reply, { text, signature }, chunks);
    return;
  }
  if (signature !== undefined && isBare(part)) return decodePart(reply, { ...part, text: "" }, chunks);

  const call = ownRecord(part, "functionCall");
  if (call !== undefined) return decodeCall(reply, { part, call, signature }, chunks);

  // A picture inside a thought is a draft, not part of the answer.
  const media = part.thought === true ? undefined : readMedia(part);
  if (media !== undefined) {
    if (signature !== undefined) addBlock(reply, { type: "thinking", text: "", signature, vendor: "google" });
    addBlock(reply, media);
  } else if (!isBare(part)) addBlock(reply, { type: "unknown", raw: part });
}

interface TextPart {
  readonly text: string;
  readonly signature: string | undefined;
}

function writeThought(reply: Reply, { text, signature }: TextPart, chunks: Chunk[]): void {
  writeThinking(reply, text, chunks);
  if (signature !== undefined) signThinking(reply, signature);
}

function writeAnswer(reply: Reply, { text, signature }: TextPart, chunks: Chunk[]): void {
  writeText(reply, text, chunks);
  if (signature !== undefined) addBlock(reply, { type: "unknown", raw: { text: "", thoughtSignature: signature } });
}

interface CallPart {
  readonly part: JsonRecord;
  readonly call: JsonRecord;
  readonly signature: string | undefined;
}

function decodeCall(reply: Reply, { part, call, signature }: CallPart, chunks: Chunk[]): void {
  const name = ownString(call, "name") ?? "";
  const input = call.args ?? {};
  const json = isRecord(input) ? writeInput(input) : undefined;
  // Gemini streams arguments in pieces only on request. A piece is never treated as the whole.
  if (name === "" || json === undefined || call.willContinue === true || call.partialArgs !== undefined) {
    addBlock(reply, { type: "unknown", raw: part });
    reply.isAnyCut = true;
    reply.warnings.push({
      code: "tool-call-incomplete",
      message: `A call to the tool ${JSON.stringify(name)} came without a name or without whole arguments, so it was not made. Ask again.`,
      context: { functionCall: call },
    });
    return;
  }
  const signed = signature ?? ownString(call, "thoughtSignature");
  if (signed) addBlock(reply, { type: "thinking", text: "", signature: signed, vendor: "google" });
  addCall(reply, { callId: takeCallId(reply, ownString(call, "id")), name, input }, json, chunks);
}

function readMedia(part: JsonRecord): MediaBlock | undefined {
  const inline = ownRecord(part, "inlineData");
  const file = ownRecord(part, "fileData");
  const data = inline === undefined ? undefined : ownString(inline, "data");
  const url = file === undefined ? undefined : ownString(file, "fileUri");
  if (data === undefined && url === undefined) return undefined;
  const mediaType = ownString(inline ?? file ?? {}, "mimeType");
  return {
    type: mediaType?.startsWith("image/") ? "image" : mediaType?.startsWith("audio/") ? "audio" : "document",
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(data === undefined ? {} : { data }),
    ...(url === undefined ? {} : { url }),
  };
}

/** Whether a part contains only `thought` and `thoughtSignature`. */
function isBare(part: JsonRecord): boolean {
  return Object.keys(part).every((key) => key === "thought" || key === "thoughtSignature");
}
