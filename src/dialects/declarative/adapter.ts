import {
  type Chunk,
  errorItem,
  mergeUsage,
  noticeItem,
  present,
  readCount,
  type ResultItem,
  resultItem,
  startItem,
  unreachable,
  type Usage,
  warningItem,
} from "#domain";
import { type DataFrame, ownBoolean, ownString, rawOf } from "#wire";
import type { Adapter, AdapterOptions } from "../shared/format.ts";
import { streamCutError, unknownStopReason } from "../shared/stream-faults.ts";
import { createOpenCalls } from "./open-calls.ts";
import {
  readFailure,
  readId,
  readMessageId,
  readMessageText,
  readReason,
  readStopReason,
  readThinkingText,
  readUsage,
  readWords,
} from "./fields.ts";
import type { Fields, FrameReader, FrameReading } from "./frame-reader.ts";
import { createMessageWriter } from "./message-writer.ts";
import { readToolResult, readToolUse } from "./tool-events.ts";
import { unknownFrame } from "./unknown-frame.ts";

/** Fields of a `start` item; metadata with only these needs no notice. */
const START_FIELDS: ReadonlySet<string> = new Set(["sessionId", "model", "tools", "timestamp"]);
/** The names that streams use for the model's role. */
const ASSISTANT_ROLES: ReadonlySet<string> = new Set(["assistant", "model"]);

export interface DeclarativeDialect {
  readonly name: string;
  readonly read: FrameReader;
  /** The config declares an end signal: a stream without it was cut. */
  readonly hasEnd: boolean;
}

/** The adapter of one stream of a declarative format. */
export function createDeclarativeAdapter(dialect: DeclarativeDialect, options: AdapterOptions = {}): Adapter {
  const writer = createMessageWriter();
  const calls = createOpenCalls();
  let started = false;
  let ended = false;
  let isOver = false;

  const decode = (frame: DataFrame, chunks: Chunk[]): void => {
    const reading = dialect.read(frame);
    // An end signal that no schema matches is reported by its `result` alone.
    if (reading.end === undefined || reading.schema !== undefined) {
      note(reading.fields);
      decodeEvent(reading, frame, chunks);
    }
    if (reading.end !== undefined && !isOver) {
      ended = true;
      closeMessage(chunks);
      chunks.push(resultItem(readVerdict(reading.end, writer.takeUsage())));
    }
  };

  const decodeEvent = (reading: FrameReading, frame: DataFrame, chunks: Chunk[]): void => {
    switch (reading.kind) {
      case "message":
        return decodeMessage(reading.fields, frame, chunks);
      case "thinking":
        return decodeThinking(reading.fields, frame, chunks);
      case "tool-use":
        moveTo(readId(reading.fields, "messageId"), chunks);
        return void chunks.push(...readToolUse(reading.fields, frame, { writer, calls, options }));
      case "tool-result":
        closeMessage(chunks);
        return void chunks.push(readToolResult(reading.fields, frame, calls));
      case "error":
        return decodeError(reading, frame, chunks);
      case "metadata":
        return decodeMetadata(reading, chunks);
      case "unknown":
        if (reading.schema?.visibility !== "hidden") chunks.push(unknownFrame(frame));
        return;
      default:
        return unreachable(reading.kind);
    }
  };

  const decodeMessage = (fields: Fields, frame: DataFrame, chunks: Chunk[]): void => {
    const role = ownString(fields, "role");
    const text = readMessageText(fields);
    if (role === "user") {
      closeMessage(chunks);
      if (text !== undefined && text !== "") chunks.push(writer.userMessage(readMessageId(fields), text));
      return;
    }
    if (role !== undefined && !ASSISTANT_ROLES.has(role)) {
      chunks.push(unknownFrame(frame, `message/${role}`));
      return;
    }
    const id = readMessageId(fields);
    const stopReason = readStopReason(fields);
    if (text === undefined && id === undefined && stopReason === undefined && role === undefined) {
      // It has no field of a message, but it must not be lost.
      chunks.push(unknownFrame(frame));
      return;
    }
    write("text", id, text, chunks);
    if (stopReason !== undefined) {
      if (stopReason === "unknown") chunks.push(warningItem(unknownStopReason(ownString(fields, "stopReason") ?? "")));
      writer.note({ stopReason });
      closeMessage(chunks);
    }
  };

  const decodeThinking = (fields: Fields, frame: DataFrame, chunks: Chunk[]): void => {
    const text = readThinkingText(fields);
    if (text === undefined) chunks.push(unknownFrame(frame));
    else write("thinking", readMessageId(fields), text, chunks);
  };

  const write = (
    kind: "text" | "thinking",
    id: string | undefined,
    text: string | undefined,
    chunks: Chunk[],
  ): void => {
    moveTo(id, chunks);
    if (text !== undefined && text !== "") chunks.push(writer.write(kind, text));
  };

  /** What follows belongs to the message with this id; an open message with another id is finished. */
  const moveTo = (id: string | undefined, chunks: Chunk[]): void => {
    if (writer.isOther(id)) closeMessage(chunks);
    writer.name(id);
  };

  const decodeError = ({ fields, schema }: FrameReading, frame: DataFrame, chunks: Chunk[]): void => {
    const terminal = schema?.terminal ?? ownBoolean(fields, "terminal") ?? false;
    if (terminal) {
      closeMessage(chunks);
      isOver = true;
    }
    chunks.push(providerError(fields, terminal, frame));
  };

  const decodeMetadata = ({ fields, schema }: FrameReading, chunks: Chunk[]): void => {
    const sessionId = readId(fields, "sessionId");
    const model = ownString(fields, "model");
    const starts = !started && (sessionId !== undefined || model !== undefined);
    if (starts) {
      started = true;
      const tools = readWords(fields, "tools");
      const mode = options.mode ?? "plain";
      chunks.push(
        startItem({
          backend: dialect.name,
          mode,
          ...present({ model, sessionId, tools }),
        }),
      );
    }
    if (schema?.visibility === "hidden") return;
    const isInStart = starts && Object.keys(fields).every((field) => START_FIELDS.has(field));
    if (!isInStart) chunks.push(noticeItem("metadata", fields));
  };

  const note = (fields: Fields): void => {
    const usage = readUsage(fields);
    const model = ownString(fields, "model");
    if (usage !== undefined || model !== undefined) writer.note({ usage, model });
  };

  const closeMessage = (chunks: Chunk[]): void => {
    const message = writer.close();
    if (message !== undefined) chunks.push(message);
  };

  return {
    feed(frames) {
      const chunks: Chunk[] = [];
      for (const frame of frames) {
        if (isOver) break;
        if (frame.kind === "data") decode(frame, chunks);
      }
      return chunks;
    },
    flush() {
      const chunks: Chunk[] = [];
      if (isOver) return chunks;
      closeMessage(chunks);
      isOver = true;
      if (dialect.hasEnd && !ended) chunks.push(streamCutError("end signal"));
      return chunks;
    },
    reset() {
      writer.reset();
      calls.reset();
      started = ended = isOver = false;
    },
  };
}

function providerError(fields: Fields, terminal: boolean, frame: DataFrame): Chunk {
  const vendorCode = readId(fields, "code");
  const status = fields.status;
  const diagnostic = {
    ...(vendorCode !== undefined && { vendorCode }),
    ...(typeof status === "number" && { status }),
  };
  return errorItem(
    {
      code: "provider-error",
      message: readReason(fields) ?? "The stream reported an error without saying which.",
      terminal,
      ...(Object.keys(diagnostic).length > 0 && { diagnostic }),
    },
    { raw: rawOf(frame) },
  );
}

type Verdict = Omit<ResultItem, "type" | "seq" | "firstSeq" | "ts" | "runId">;

/**
 * Reads the verdict of an end signal. Without a field about failure it is a success, unless its `subtype` starts with
 * `error`. Token counts that it lacks are taken from the messages before it.
 */
function readVerdict(fields: Fields, seen: Usage): Verdict {
  const subtype = ownString(fields, "subtype");
  const isError = readFailure(fields) ?? subtype?.startsWith("error") ?? false;
  const text = readMessageText(fields) ?? (isError ? readReason(fields) : undefined);
  const costUsd = readCount(fields.costUsd);
  const turns = readCount(fields.turns);
  const ms = readCount(fields.ms);
  const sessionId = readId(fields, "sessionId");
  return {
    subtype: subtype ?? (isError ? "error" : "success"),
    isError,
    ...(text !== undefined && { text }),
    ...(Object.hasOwn(fields, "structured") && { structured: fields.structured }),
    usage: mergeUsage(seen, readUsage(fields) ?? {}),
    ...present({ costUsd, turns, ms, sessionId }),
  };
}
