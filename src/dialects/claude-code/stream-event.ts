import type { Chunk } from "#domain";
import { type DataFrame, isRecord, type JsonRecord, ownNumber, ownRecord, ownString } from "#wire";
import { readMessagesComplaint } from "../shared/message-fields.ts";
import { readMessageEnd, startBlock, stopBlock, writeDelta } from "../shared/message-stream.ts";
import { providerError } from "../shared/provider-error.ts";
import type { Conversation } from "./assistant-messages.ts";
import type { SubStream } from "./sub-stream.ts";

/** Reads `stream_event` frames: the Messages API's events, forwarded. */
export interface StreamEventReader {
  /** What to call the frame if it was not understood; `undefined` when it was. */
  read(lane: SubStream, frame: DataFrame, value: JsonRecord, out: Chunk[]): string | undefined;
}

/** The sub-agent a frame belongs to. */
export function parentOf(frame: JsonRecord): string | undefined {
  return ownString(frame, "parent_tool_use_id");
}

const UNKNOWN = "stream_event";

/** Creates the reader for one stream. */
export function createStreamEventReader(conversation: Conversation): StreamEventReader {
  const readEvent = (lane: SubStream, value: JsonRecord, event: JsonRecord, out: Chunk[]): string | undefined => {
    const message = lane.streamed;
    switch (event.type) {
      case "message_start": {
        const head = ownRecord(event, "message");
        if (head === undefined) return UNKNOWN;
        conversation.open(lane, head, out);
        return undefined;
      }
      case "content_block_start":
        return message !== undefined && startBlock(message, event, conversation.toolName, out) ? undefined : UNKNOWN;
      case "content_block_stop":
        return message !== undefined && stopBlock(message, event.index) ? undefined : UNKNOWN;
      case "message_delta": {
        if (message === undefined || !readMessageEnd(message, event)) return UNKNOWN;
        if (message.stopReason !== undefined) message.hasChanged = true;
        return undefined;
      }
      case "message_stop": {
        if (message === undefined) return UNKNOWN;
        const abandoned = ownRecord(value, "abandoned_blocks");
        conversation.stop(lane, abandoned && (ownNumber(abandoned, "from_block_index") ?? 0), out);
        return undefined;
      }
      case "ping":
        return undefined;
      default:
        return `${UNKNOWN}/${ownString(event, "type") ?? ""}`;
    }
  };

  return {
    read(lane, frame, value, out) {
      const { event, api_message_id: messageId } = value;
      if (!isRecord(event)) return UNKNOWN;
      const message = lane.streamed;
      if (event.type === "error") {
        // Not the end: the CLI tries again, or says so in its result.
        out.push({ ...providerError(readMessagesComplaint(event.error), frame), terminal: false });
        return undefined;
      }
      if (event.type !== "message_start" && isOther(messageId, message?.vendorId)) return UNKNOWN;
      if (event.type !== "content_block_delta") return readEvent(lane, value, event, out);
      // A delta of a kind we do not know needs no notice: its block comes whole in an `assistant` frame.
      const fate = message === undefined ? "misplaced" : writeDelta(message, event.index, event.delta, out);
      return fate === "misplaced" ? UNKNOWN : undefined;
    },
  };
}

/** Whether an event names a message that is not the open one. Older CLIs name none. */
function isOther(messageId: unknown, openId: string | undefined): boolean {
  return typeof messageId === "string" && messageId !== openId;
}
