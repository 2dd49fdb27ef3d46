import {
  type Block,
  type DeltaEvent,
  isRecord,
  type MessageItem,
  present,
  type Raw,
  type ResultItem,
  type StartItem,
  type ToolResultItem,
  unreachable,
} from "#domain";
import type {
  AssistantMessage,
  ContentBlock,
  ItemMessage,
  MessageEnvelope,
  ResultMessage,
  StreamEventMessage,
  SystemMessage,
  UserMessage,
} from "./item.ts";
import { vendorStopReason, vendorUsage } from "./vendor-words.ts";

type Frame = Readonly<Record<string, unknown>>;

/** Fields that a message gets from our events, or under another name; they are not copied from the frame. */
const OWN_FIELDS = {
  System: ["type", "subtype", "session_id", "model", "tools"],
  Assistant: ["type", "message", "session_id", "parent_tool_use_id"],
  User: ["type", "message", "session_id", "parent_tool_use_id"],
  Result: [
    "type",
    "subtype",
    "is_error",
    "result",
    "structured_output",
    "session_id",
    "duration_ms",
    "num_turns",
    "total_cost_usd",
    "usage",
  ],
  StreamEvent: ["type", "event", "session_id", "parent_tool_use_id"],
} as const satisfies Record<ItemMessage["type"], readonly string[]>;

/** Fields that the wire spells in another style than its others. */
const CANONICAL_NAMES: ReadonlyMap<string, string> = new Map([
  ["permissionMode", "permission_mode"],
  ["apiKeySource", "api_key_source"],
  ["modelUsage", "model_usage"],
]);

const FRAME_TYPES = {
  System: "system",
  Assistant: "assistant",
  User: "user",
  Result: "result",
  StreamEvent: "stream_event",
} as const;

/**
 * Puts a message into its envelope. The frame is included only if it is the message's own: a message may be finished by
 * a frame about something else.
 */
export function envelope(message: MessageEnvelope["message"], raw: Raw | undefined): MessageEnvelope {
  const frame = raw === undefined ? undefined : readFrame(raw);
  if (raw === undefined || frame === undefined || !isFrameOf(frame, message)) return { type: "Message", message };
  return {
    type: "Message",
    message: { ...message, ...otherFields(frame, message) },
    raw_json: raw.json,
    raw_bytes: raw.bytes,
  };
}

export function systemInit(item: StartItem): SystemMessage {
  const { sessionId, model, tools } = item;
  return {
    type: "System",
    subtype: "init",
    ...present({ session_id: sessionId, model, tools }),
  };
}

export function assistantMessage(item: MessageItem, sessionId: string | undefined): AssistantMessage {
  const { id, blocks, model, stopReason, usage, parent } = item;
  return {
    type: "Assistant",
    message: {
      id,
      role: "assistant",
      content: blocks.map(toContentBlock),
      ...(model !== undefined && { model }),
      stop_reason: vendorStopReason(stopReason),
      ...(usage !== undefined && { usage: vendorUsage(usage) }),
    },
    ...(sessionId !== undefined && { session_id: sessionId }),
    parent_tool_use_id: parent ?? null,
  };
}

export function userMessage(
  content: readonly ContentBlock[],
  parent: string | undefined,
  sessionId: string | undefined,
): UserMessage {
  return {
    type: "User",
    message: { role: "user", content },
    ...(sessionId !== undefined && { session_id: sessionId }),
    parent_tool_use_id: parent ?? null,
  };
}

export function toolResultBlock({ callId, output, isError }: ToolResultItem): ContentBlock {
  return { type: "ToolResultBlock", tool_use_id: callId, content: output, is_error: isError };
}

export function resultMessage(item: ResultItem, denials: readonly unknown[]): ResultMessage {
  const { subtype, isError, text, structured, sessionId, ms, turns, costUsd, usage } = item;
  return {
    type: "Result",
    subtype,
    is_error: isError,
    ...present({
      result: text,
      structured_output: structured,
      session_id: sessionId,
      duration_ms: ms,
      num_turns: turns,
      total_cost_usd: costUsd,
    }),
    usage: vendorUsage(usage),
    permission_denials: denials,
  };
}

export function streamEvent(event: DeltaEvent, sessionId: string | undefined): StreamEventMessage {
  return {
    type: "StreamEvent",
    event: { type: "content_block_delta", index: event.index, delta: vendorDelta(event) },
    message_id: event.messageId,
    ...(sessionId !== undefined && { session_id: sessionId }),
    parent_tool_use_id: event.parent ?? null,
  };
}

export function toContentBlock(block: Block): ContentBlock {
  switch (block.type) {
    case "text":
      return { type: "TextBlock", text: block.text };
    case "thinking":
      return {
        type: "ThinkingBlock",
        thinking: block.text,
        ...(block.signature !== undefined && { signature: block.signature }),
      };
    case "tool-call":
      return { type: "ToolUseBlock", id: block.callId, name: block.name, input: block.input };
    case "tool-result": {
      const { callId, output, isError } = block;
      return { type: "ToolResultBlock", tool_use_id: callId, content: output, is_error: isError };
    }
    case "image":
    case "document":
    case "audio":
      return { type: "UnknownBlock", raw: block };
    case "unknown":
      return { type: "UnknownBlock", raw: block.raw };
    default:
      return unreachable(block);
  }
}

function vendorDelta(event: DeltaEvent): StreamEventMessage["event"]["delta"] {
  switch (event.type) {
    case "text-delta":
      return { type: "text_delta", text: event.text };
    case "thinking-delta":
      return { type: "thinking_delta", thinking: event.text };
    case "tool-input-delta":
      return { type: "input_json_delta", partial_json: event.json };
    default:
      return unreachable(event);
  }
}

function readFrame(raw: Raw): Frame | undefined {
  try {
    const value: unknown = JSON.parse(raw.json);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isFrameOf(frame: Frame, message: MessageEnvelope["message"]): boolean {
  if (frame["type"] !== FRAME_TYPES[message.type]) return false;
  if (message.type !== "Assistant") return true;
  return isRecord(frame["message"]) && frame["message"]["id"] === message.message.id;
}

/** All other fields of the frame. A notice has them in `data`. */
function otherFields(frame: Frame, message: ItemMessage): Frame {
  const own: readonly string[] = OWN_FIELDS[message.type];
  const isNotice = message.type === "System" && message.data !== undefined;
  const names = isNotice ? ["uuid"].filter((name) => Object.hasOwn(frame, name)) : Object.keys(frame);
  // Names come from outside. Copying the message by assignment would otherwise set its prototype.
  const others = names.filter((name) => !own.includes(name) && name !== "__proto__");
  return Object.fromEntries(others.map((name) => [CANONICAL_NAMES.get(name) ?? name, frame[name]]));
}
