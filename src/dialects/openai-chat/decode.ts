import { type Chunk, type ChunkOf, type ErrorItem, mergeUsage, type Mode, startItem, type Usage } from "#domain";
import { type DataFrame, type Frame, isRecord, type JsonRecord, ownArray, ownString } from "#wire";
import type { Adapter, AdapterOptions, Format } from "../shared/format.ts";
import { writeJson } from "../shared/json-text.ts";
import { providerError } from "../shared/provider-error.ts";
import {
  jsonDecodeError,
  lateFrameNotice,
  streamCutError,
  unknownNotice,
  usageNotice,
} from "../shared/stream-faults.ts";
import type { LooseFragment } from "../shared/tool-call-assembler.ts";
import { type Ending, finishReply, readComplaint, readEnding, readFailure, readUsage } from "./end.ts";
import { createReply, keepUnknown, type Reply, writeFragment, writeText, writeThinking } from "./reply.ts";

/**
 * The stream of OpenAI's Chat Completions, as sent by OpenAI and the many hosts that imitate it.
 *
 * A reply is complete when its `finish_reason` has arrived; `[DONE]` alone is not enough, and may be missing.
 *
 * @example
 * const decoder = createDecoder(openAiChat)
 * for (const chunk of decoder.push(bytes)) console.log(chunk.type)
 */
export const openAiChat: Format = {
  name: "openai-chat",
  framing: "sse",
  description: "OpenAI Chat Completions and compatible hosts (OpenRouter, vLLM, DeepSeek, Modal, Ollama …)",
  createAdapter: createOpenAiChatAdapter,
};

const END_MARK = "[DONE]";

interface Stream {
  readonly mode: Mode;
  /** `ended`: the message was emitted. `failed`: a terminal error was emitted, and nothing may follow it. */
  phase: "open" | "ended" | "failed";
  reply: Reply | undefined;
  ending: Ending | undefined;
  usage: Usage | undefined;
  hasOtherChoice: boolean;
}

/** The adapter for one Chat Completions stream. */
function createOpenAiChatAdapter(options: AdapterOptions = {}): Adapter {
  let stream = createStream(options);
  return {
    feed(frames) {
      const chunks: Chunk[] = [];
      for (const frame of frames) decodeFrame(stream, frame, chunks);
      return chunks;
    },
    flush() {
      const chunks: Chunk[] = [];
      endStream(stream, chunks);
      return chunks;
    },
    noteGap() {
      stream.reply?.assembler.noteGap();
    },
    reset() {
      stream = createStream(options);
    },
  };
}

function createStream(options: AdapterOptions): Stream {
  return {
    mode: options.mode ?? "http",
    phase: "open",
    reply: undefined,
    ending: undefined,
    usage: undefined,
    hasOtherChoice: false,
  };
}

function decodeFrame(stream: Stream, frame: Frame, chunks: Chunk[]): void {
  if (stream.phase === "failed" || frame.kind === "fault") return;
  if (frame.value === undefined && frame.text.trim() === END_MARK) endStream(stream, chunks);
  else if (stream.phase === "ended") chunks.push(lateFrameNotice(frame));
  else if (frame.value === undefined) {
    // Its content is lost, possibly a part of a call's arguments.
    stream.reply?.assembler.noteGap();
    chunks.push(jsonDecodeError(frame));
  } else if (isRecord(frame.value)) decodeChunk(stream, frame.value, frame, chunks);
  else chunks.push(unknownNotice("chunk", frame));
}

function decodeChunk(stream: Stream, chunk: JsonRecord, frame: DataFrame, chunks: Chunk[]): void {
  // The error is under `error`, or the whole frame is one: by its SSE name or its `object`.
  if (chunk.error) return fail(stream, providerError(readComplaint(chunk.error), frame), chunks);
  if (frame.name === "error" || chunk.object === "error") {
    return fail(stream, providerError(readComplaint(chunk), frame), chunks);
  }
  const choices = chunk.choices;
  if (Array.isArray(choices)) decodeChoices(stream, choices, frame, chunks);
  else if (!isRecord(chunk.usage)) chunks.push(unknownNotice("chunk", frame));
  if (isRecord(chunk.usage)) decodeUsage(stream, chunk.usage, chunks);
}

/** Decodes the first choice; the others are reported once. */
function decodeChoices(stream: Stream, choices: readonly unknown[], frame: DataFrame, chunks: Chunk[]): void {
  for (let position = 0; position < choices.length && stream.phase === "open"; position++) {
    const choice = choices[position];
    if (isRecord(choice) && (choice.index ?? position) === 0) {
      decodeChoice(stream, choice, frame, chunks);
    } else if (!stream.hasOtherChoice) {
      stream.hasOtherChoice = true;
      chunks.push(unknownNotice("choice", frame, choice));
    }
  }
}

function startReply(stream: Stream, frame: DataFrame, chunks: Chunk[]): Reply {
  const chunk = isRecord(frame.value) ? frame.value : {};
  const model = ownString(chunk, "model") || undefined;
  chunks.push(startItem({ backend: "openai", mode: stream.mode, ...(model === undefined ? {} : { model }) }));
  return createReply({ id: ownString(chunk, "id") || undefined, model });
}

function decodeChoice(stream: Stream, choice: JsonRecord, frame: DataFrame, chunks: Chunk[]): void {
  if (choice.error) return fail(stream, providerError(readComplaint(choice.error), frame), chunks);
  stream.reply ??= startReply(stream, frame, chunks);
  const delta = choice.delta;
  const before = chunks.length;
  if (isRecord(delta)) decodeDelta(stream.reply, delta, chunks);

  const finishReason = choice.finish_reason;
  if (typeof finishReason === "string" && finishReason !== "") decodeFinish(stream, finishReason, frame, chunks);
  else if (chunks.length === before && isRecord(delta) && hasUnknownField(delta)) {
    chunks.push(unknownNotice("delta", frame, delta));
  }
}

function decodeFinish(stream: Stream, finishReason: string, frame: DataFrame, chunks: Chunk[]): void {
  const failure = readFailure(finishReason);
  if (failure !== undefined) return fail(stream, providerError(failure, frame), chunks);
  // The first reason counts: a host that sends "length" and then closes with "stop" did cut the reply.
  if (stream.ending !== undefined) return;
  stream.ending = readEnding(finishReason);
  if (stream.ending.stopReason === "unknown") chunks.push(unknownNotice("finish-reason", frame, { finishReason }));
}

function decodeUsage(stream: Stream, value: JsonRecord, chunks: Chunk[]): void {
  const usage = readUsage(value);
  if (usage === undefined) return;
  stream.usage = stream.usage === undefined ? usage : mergeUsage(stream.usage, usage);
  // After the reason and the usage nothing more follows, but a host may keep the connection open.
  if (stream.ending !== undefined) endStream(stream, chunks);
}

function fail(stream: Stream, error: ChunkOf<ErrorItem>, chunks: Chunk[]): void {
  stream.phase = "failed";
  chunks.push(...usageNotice(stream.usage), error);
}

function endStream(stream: Stream, chunks: Chunk[]): void {
  if (stream.phase !== "open") return;
  if (stream.reply === undefined || stream.ending === undefined)
    return fail(stream, streamCutError("finish_reason"), chunks);
  stream.phase = "ended";
  finishReply(stream.reply, { ending: stream.ending, usage: stream.usage }, chunks);
}

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "role",
  "content",
  "refusal",
  "reasoning",
  "reasoning_content",
  "tool_calls",
  "function_call",
]);

const NOTHING: JsonRecord = {};

/** Adds one `delta` to the reply. */
export function decodeDelta(reply: Reply, delta: JsonRecord, chunks: Chunk[]): void {
  // Two names for the same text: hosts that send both send it twice.
  const reasoning = delta.reasoning_content ?? delta.reasoning;
  if (typeof reasoning === "string") writeThinking(reply, reasoning, chunks);

  const content = delta.content;
  if (typeof content === "string") writeText(reply, content, chunks);
  else if (Array.isArray(content)) for (const part of content) decodePart(reply, part, chunks);

  const refusal = delta.refusal;
  if (typeof refusal === "string" && refusal !== "") {
    reply.hasRefused = true;
    writeText(reply, refusal, chunks);
  }

  const calls = delta.tool_calls;
  if (Array.isArray(calls)) {
    for (const call of calls) if (isRecord(call)) writeFragment(reply, readFragment(call, call.function), chunks);
  }

  // The older form has one call per reply and no ids. With our own id its arguments can be shown as they arrive.
  const legacy = delta.function_call;
  if (isRecord(legacy)) writeFragment(reply, readFragment({ id: reply.legacyCallId }, legacy), chunks);
}

/** Whether a delta has a field that this dialect does not know. */
function hasUnknownField(delta: JsonRecord): boolean {
  return Object.keys(delta).some((key) => !KNOWN_FIELDS.has(key) && delta[key] !== null);
}

/** Some hosts send content as a list of typed parts instead of one string. */
function decodePart(reply: Reply, part: unknown, chunks: Chunk[]): void {
  if (typeof part === "string") return writeText(reply, part, chunks);
  if (!isRecord(part)) return keepUnknown(reply, part);
  const text = ownString(part, "text");
  if ((part.type === "text" || part.type === undefined) && text !== undefined) return writeText(reply, text, chunks);
  if (part.type === "thinking") return writeThinking(reply, readThinking(part), chunks);
  keepUnknown(reply, part);
}

function readThinking(part: JsonRecord): string {
  const pieces = ownArray(part, "thinking") ?? [];
  const texts = pieces.map((piece) => (isRecord(piece) ? (ownString(piece, "text") ?? "") : ""));
  return ownString(part, "thinking") ?? texts.join("");
}

function readFragment(call: JsonRecord, called: unknown): LooseFragment {
  const { index, id } = call;
  const { name, arguments: written } = isRecord(called) ? called : NOTHING;
  return {
    index: typeof index === "number" ? index : undefined,
    id: typeof id === "string" ? id : undefined,
    name: typeof name === "string" ? name : undefined,
    argumentsDelta: readArguments(written),
  };
}

/** Arguments are JSON text; some hosts send the object itself, always complete. */
function readArguments(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return isRecord(value) ? writeJson(value) : undefined;
}
