import { type Block, type Chunk, messageItem, readCount } from "#domain";
import { type DataFrame, isRecord, type JsonRecord, ownArray, ownRecord, ownString } from "#wire";
import { readBlock } from "../shared/message-fields.ts";
import { createMessageIds } from "../shared/message-ids.ts";
import type { AssistantMessages } from "./assistant-messages.ts";
import type { SubStream, SubStreams } from "./sub-stream.ts";
import type { OpenToolCalls } from "./open-tool-calls.ts";

/** Reads `user` frames: answers to tool calls, and texts inserted into the conversation. */
export interface UserReader {
  /** False if the frame holds no message, or an empty one. */
  read(subStream: SubStream, frame: DataFrame, value: JsonRecord, out: Chunk[]): boolean;
}

export function createUserReader(parts: {
  readonly openCalls: OpenToolCalls;
  readonly assistant: AssistantMessages;
  readonly subStreams: SubStreams;
}): UserReader {
  const { openCalls, assistant, subStreams } = parts;
  const ids = createMessageIds("user");

  const noteAnswers = (subStream: SubStream, results: readonly JsonRecord[], out: Chunk[]): void => {
    for (const result of results) {
      const callId = ownString(result, "tool_use_id");
      if (callId === undefined || !openCalls.answers(result)) continue;
      // The answer to the call that started a sub-agent: the sub-agent's output is complete.
      const subagent = subStreams.take(callId);
      if (subagent !== undefined) assistant.close(subagent, assistant.listFor(callId, out));
      assistant.noteAnswer(subStream, callId, out);
    }
  };

  const emitText = (subStream: SubStream, value: JsonRecord, blocks: readonly Block[], out: Chunk[]): void => {
    // An echo of our input may arrive at any time; any other text comes after what the assistant has written.
    if (value.isReplay !== true) assistant.emit(subStream, out);
    out.push(
      messageItem({
        id: ids.claim(ownString(value, "uuid")),
        role: "user",
        blocks,
        ...(subStream.parent !== undefined && { parent: subStream.parent }),
      }),
    );
  };

  return {
    read(subStream, frame, value, out) {
      const content = readContent(value);
      if (content === undefined || content.length === 0) return false;
      const results = content.filter(isToolResult);
      noteAnswers(subStream, results, out);
      const ms = results.length === 1 ? readDuration(value) : undefined;
      for (const result of results) {
        const place = assistant.listFor(ownString(result, "tool_use_id"), out);
        openCalls.answer(result, frame, { parent: subStream.parent, ms }, place);
      }
      const others = content.filter((block) => !isToolResult(block));
      if (others.length > 0) {
        const blocks = others.map((block) => readBlock(block, assistant.toolName));
        emitText(subStream, value, blocks, assistant.listFor(subStream.parent, out));
      }
      return true;
    },
  };
}

/** The blocks of a `user` frame; a plain string is one block. */
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
