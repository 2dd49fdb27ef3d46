import { type Chunk, noticeItem, startItem } from "#domain";
import { type DataFrame, isRecord, type JsonRecord, ownRecord, ownString } from "#wire";
import type { Adapter, AdapterOptions, Format } from "../shared/format.ts";
import { kindOfValue, readMessagesComplaint } from "../shared/message-fields.ts";
import { createMessageIds } from "../shared/message-ids.ts";
import { dropBlocks } from "../shared/message-settle.ts";
import {
  noteGap,
  type OpenMessage,
  openMessage,
  readMessageEnd,
  readMessageHead,
  startBlock,
  stopBlock,
  writeDelta,
} from "../shared/message-stream.ts";
import { providerError } from "../shared/provider-error.ts";
import { jsonDecodeError, streamCutError, unknownNotice, usageNotice } from "../shared/stream-faults.ts";
import { finishMessage } from "./end.ts";

/**
 * The event stream of the Messages API.
 *
 * A message is emitted once, at its `message_stop`, followed by its tool calls. The stream is complete when a
 * `message_stop` has followed a stop reason; any other end means that it was cut.
 *
 * @example
 * const decoder = createDecoder(anthropicMessages)
 * for (const chunk of decoder.push(bytes)) console.log(chunk.type)
 */
export const anthropicMessages: Format = {
  name: "anthropic-messages",
  framing: "sse",
  description: "The Anthropic Messages API, streamed",
  createAdapter,
};

/** Hosts that also implement OpenAI's dialect may close with this. It has no meaning here. */
const FOREIGN_END = "[DONE]";

function createAdapter(options: AdapterOptions = {}): Adapter {
  let stream = createStream(options);
  return {
    feed(frames) {
      const out: Chunk[] = [];
      for (const frame of frames) if (frame.kind === "data") stream.decode(frame, out);
      return out;
    },
    flush: () => stream.end(),
    noteGap: () => stream.noteGap(),
    reset() {
      stream = createStream(options);
    },
  };
}

function createStream(options: AdapterOptions) {
  const ids = createMessageIds("message");
  const toolName = (name: string): string => options.ownTool?.(name) ?? name;
  let message: OpenMessage | undefined;
  let hasStarted = false;
  let isComplete = false;
  /** Nothing is emitted after a terminal error. */
  let isOver = false;

  const startMessage = (event: JsonRecord, out: Chunk[]): boolean => {
    const head = ownRecord(event, "message");
    if (head === undefined) return false;
    if (message !== undefined) {
      // The host started again: deltas already shown are void.
      dropBlocks(message, () => false, out);
      ids.release(message.vendorId);
    }
    const vendorId = ownString(head, "id");
    message = openMessage({ id: ids.claim(vendorId), vendorId });
    readMessageHead(message, head);
    isComplete = false;
    if (!hasStarted) {
      hasStarted = true;
      const { model } = message;
      out.push(
        startItem({ backend: "anthropic", mode: options.mode ?? "http", ...(model !== undefined && { model }) }),
      );
    }
    return true;
  };

  /** Returns whether the event was understood; one that was not is kept as a notice. */
  const apply = (event: JsonRecord, type: string, out: Chunk[]): boolean => {
    switch (type) {
      case "message_start":
        return startMessage(event, out);
      case "content_block_start":
        return message !== undefined && startBlock(message, event, toolName, out);
      case "content_block_stop":
        return message !== undefined && stopBlock(message, event.index);
      case "message_delta":
        return message !== undefined && readMessageEnd(message, event);
      case "message_stop":
        // Without a stop reason this is not the end: the stream may continue, or it was cut.
        if (message?.stopReason === undefined) return true;
        finishMessage(message, out);
        message = undefined;
        isComplete = true;
        return true;
      case "ping":
        return true;
      default:
        return false;
    }
  };

  const decodeDelta = (frame: DataFrame, event: JsonRecord, out: Chunk[]): void => {
    const fate = message === undefined ? "misplaced" : writeDelta(message, event.index, event.delta, out);
    if (fate === "written") return;
    const deltaType = isRecord(event.delta) ? ownString(event.delta, "type") : undefined;
    if (fate === "misplaced" || message === undefined || deltaType === undefined) {
      out.push(unknownNotice("content_block_delta", frame));
    } else if (deltaType === "citations_delta") {
      out.push(noticeItem("citation", { messageId: message.id, ...event }));
    } else {
      out.push(unknownNotice(deltaType, frame));
    }
  };

  return {
    decode(frame: DataFrame, out: Chunk[]): void {
      if (isOver) return;
      const event = frame.value;
      if (event === undefined) {
        if (frame.text === FOREIGN_END) return;
        if (message !== undefined) noteGap(message);
        out.push(jsonDecodeError(frame));
        return;
      }
      if (!isRecord(event)) {
        out.push(unknownNotice(kindOfValue(event), frame));
        return;
      }
      const type = ownString(event, "type") ?? frame.name;
      if (type === "content_block_delta") decodeDelta(frame, event, out);
      else if (type === "error") {
        out.push(...usageNotice(message?.usage), providerError(readMessagesComplaint(event.error), frame));
        isOver = true;
      } else if (!apply(event, type, out)) out.push(unknownNotice(type === "" ? "object" : type, frame));
    },
    noteGap(): void {
      if (message !== undefined) noteGap(message);
    },
    end(): Chunk[] {
      if (isOver || (isComplete && message === undefined)) return [];
      isOver = true;
      return [...usageNotice(message?.usage), streamCutError("message_stop")];
    },
  };
}
