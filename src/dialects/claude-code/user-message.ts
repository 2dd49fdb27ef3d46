import { type Block, type Chunk, messageItem, readCount } from "#domain";
import { type DataFrame, isRecord, type JsonRecord, ownArray, ownRecord, ownString } from "#wire";
import { readBlock } from "../shared/message-fields.ts";
import { createMessageIds } from "../shared/message-ids.ts";
import type { Conversation } from "./assistant-messages.ts";
import type { SubStream, SubStreams } from "./sub-stream.ts";
import type { OpenToolCalls } from "./open-tool-calls.ts";

/** Reads `user` frames: answers to tool calls, and texts that were put into the conversation. */
export interface UserReader {
  /** False when the frame holds no message, or an empty one. */
  read(lane: SubStream, frame: DataFrame, value: JsonRecord, out: Chunk[]): boolean;
}

/** Creates the reader for one stream. */
export function createUserReader(parts: {
  readonly ledger: OpenToolCalls;
  readonly conversation: Conversation;
  readonly lanes: SubStreams;
}): UserReader {
  const { ledger, conversation, lanes } = parts;
  const ids = createMessageIds("user");

  const noteAnswers = (lane: SubStream, results: readonly JsonRecord[], out: Chunk[]): void => {
    for (const result of results) {
      const callId = ownString(result, "tool_use_id");
      if (callId === undefined || !ledger.answers(result)) continue;
      // The answer to the call that began a sub-agent: what it wrote is complete.
      const subagent = lanes.take(callId);
      if (subagent !== undefined) conversation.close(subagent, conversation.behind(callId, out));
      conversation.noteAnswer(lane, callId, out);
    }
  };

  const tellText = (lane: SubStream, value: JsonRecord, blocks: readonly Block[], out: Chunk[]): void => {
    // An echo of what we sent may come at any time; any other text stands behind what the assistant has said.
    if (value.isReplay !== true) conversation.tell(lane, out);
    out.push(
      messageItem({
        id: ids.claim(ownString(value, "uuid")),
        role: "user",
        blocks,
        ...(lane.parent !== undefined && { parent: lane.parent }),
      }),
    );
  };

  return {
    read(lane, frame, value, out) {
      const content = readContent(value);
      if (content === undefined || content.length === 0) return false;
      const results = content.filter(isToolResult);
      noteAnswers(lane, results, out);
      const ms = results.length === 1 ? readDuration(value) : undefined;
      for (const result of results) {
        const place = conversation.behind(ownString(result, "tool_use_id"), out);
        ledger.answer(result, frame, { parent: lane.parent, ms }, place);
      }
      const others = content.filter((block) => !isToolResult(block));
      if (others.length > 0) {
        const blocks = others.map((block) => readBlock(block, conversation.toolName));
        tellText(lane, value, blocks, conversation.behind(lane.parent, out));
      }
      return true;
    },
  };
}

/** The blocks of a `user` frame; a text alone is one block. */
function readContent(value: JsonRecord): readonly unknown[] | undefined {
  const head = ownRecord(value, "message");
  if (head === undefined) return undefined;
  const text = ownString(head, "content");
  return text === undefined ? ownArray(head, "content") : [{ type: "text", text }];
}

function isToolResult(block: unknown): block is JsonRecord {
  return isRecord(block) && block.type === "tool_result";
}

function readDuration(value: JsonRecord): number | undefined {
  const details = ownRecord(value, "tool_use_result");
  return details === undefined ? undefined : readCount(details.durationMs);
}
