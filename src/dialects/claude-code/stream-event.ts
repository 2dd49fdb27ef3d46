import type { Chunk } from "#domain";
import { type DataFrame, isRecord, type JsonRecord, ownNumber, ownRecord, ownString } from "#wire";
import { readMessagesComplaint } from "../shared/message-fields.ts";
import { readMessageEnd, startBlock, stopBlock, writeDelta } from "../shared/message-stream.ts";
import { providerError } from "../shared/provider-error.ts";
import type { AssistantMessages } from "./assistant-messages.ts";
import type { SubStream } from "./sub-stream.ts";

/** Reads `stream_event` frames: forwarded events of the Messages API. */
export interface StreamEventReader {
  /** The name for the frame's notice if it was not understood; `undefined` if it was. */
  read(subStream: SubStream, frame: DataFrame, value: JsonRecord, out: Chunk[]): string | undefined;
}

/** The sub-agent a frame belongs to. */
export function parentOf(frame: JsonRecord): string | undefined {
  return ownString(frame, "parent_tool_use_id");
}

const UNKNOWN = "stream_event";

export function createStreamEventReader(assistant: AssistantMessages): StreamEventReader {
  const readEvent = (subStream: SubStream, value: JsonRecord, event: JsonRecord, out: Chunk[]): string | undefined => {
    const message = subStream.streamed;
    switch (event.type) {
      case "message_start": {
        const head = ownRecord(event, "message");
        if (head === undefined) return UNKNOWN;
        assistant.open(subStream, head, out);
        return undefined;
      }
      case "content_block_start":
        return message !== undefined && startBlock(message, event, assistant.toolName, out) ? undefined : UNKNOWN;
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
        assistant.stop(subStream, abandoned && (ownNumber(abandoned, "from_block_index") ?? 0), out);
        return undefined;
      }
      case "ping":
        return undefined;
      default:
        return `${UNKNOWN}/${ownString(event, "type") ?? ""}`;
    }
  };

  return {
    read(subStream, frame, value, out) {
      const { event, api_message_id: messageId } = value;
      if (!isRecord(event)) return UNKNOWN;
      const message = subStream.streamed;
      if (event.type === "error") {
        // Not the end: the CLI retries, or reports the failure in its result.
        out.push({ ...providerError(readMessagesComplaint(event.error), frame), terminal: false });
        return undefined;
      }
      if (event.type !== "message_start" && isOther(messageId, message?.vendorId)) return UNKNOWN;
      if (event.type !== "content_block_delta") return readEvent(subStream, value, event, out);
      // An unknown kind of delta needs no notice: its block arrives whole in an `assistant` frame.
      const fate = message === undefined ? "misplaced" : writeDelta(message, event.index, event.delta, out);
      return fate === "misplaced" ? UNKNOWN : undefined;
    },
  };
}

/** Whether an event names a message that is not the open one. Older CLIs name none. */
function isOther(messageId: unknown, openId: string | undefined): boolean {
  return typeof messageId === "string" && messageId !== openId;
}
