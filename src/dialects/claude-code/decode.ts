import { type Chunk, errorItem, noticeItem, permissionItem, startItem, warningItem } from "#domain";
import { type DataFrame, isRecord, type JsonRecord, ownArray, ownString, rawOf } from "#wire";
import type { Adapter, AdapterOptions, Format } from "../shared/format.ts";
import { kindOfValue } from "../shared/message-fields.ts";
import { jsonDecodeError, unfinishedReply, unknownNotice } from "../shared/stream-faults.ts";
import { createConversation } from "./assistant-messages.ts";
import { createVerdictReader } from "./end.ts";
import { createLanes, type SubStream } from "./sub-stream.ts";
import { FRAME_NOTICES, SYSTEM_NOTICES } from "./notices.ts";
import { createStreamEventReader, parentOf } from "./stream-event.ts";
import { createToolLedger } from "./open-tool-calls.ts";
import { createUserReader } from "./user-message.ts";

/**
 * What the Claude Code CLI prints with `--output-format stream-json`, with or without partial messages.
 *
 * A message is told when it is over, its tool calls behind it, and behind them what came about them meanwhile. Several
 * results are normal; the end of the stream is the end of the run, and without any result it is an error.
 *
 * @example
 * const decoder = createDecoder(claudeCode)
 * for (const chunk of decoder.push(bytes)) console.log(chunk.type)
 */
export const claudeCode: ClaudeCodeFormat = {
  name: "claude-code",
  framing: "ndjson",
  description: "The Claude Code CLI's stream-json output",
  createAdapter,
};

interface ClaudeCodeFormat extends Format {
  createAdapter(options?: AdapterOptions): ClaudeCodeAdapter;
}

/** An adapter for whoever is asked about a call while the message it stands in is still being written. */
export interface ClaudeCodeAdapter extends Adapter {
  /** Whether the call is known and not told, because its message is not over. */
  isWaiting(callId: string): boolean;
  /** Tells the message of a waiting call as far as it is written, and the call. The message is told again at its end. */
  tellNow(callId: string): Chunk[];
  /** The CLI's own id of the last message of the main conversation. */
  readonly lastMessageId: string | undefined;
}

function createAdapter(options: AdapterOptions = {}): ClaudeCodeAdapter {
  let stream = createStream(options);
  return {
    feed(frames) {
      const out: Chunk[] = [];
      for (const frame of frames) if (frame.kind === "data") stream.decode(frame, out);
      return out;
    },
    flush: () => stream.end(),
    isWaiting: (callId) => stream.isWaiting(callId),
    tellNow: (callId) => stream.tellNow(callId),
    get lastMessageId() {
      return stream.lastMessageId;
    },
    reset() {
      stream = createStream(options);
    },
  };
}

function createStream(options: AdapterOptions) {
  const ownTool = (name: string): string | undefined => options.ownTool?.(name);
  const ledger = createToolLedger();
  const conversation = createConversation(ledger, ownTool);
  /** Where the chunks of the frame at hand go, for a lane that has to make room. */
  let held: Chunk[] = [];
  const lanes = createLanes((lane) => conversation.close(lane, held));
  const user = createUserReader({ ledger, conversation, lanes });
  const verdicts = createVerdictReader();
  const streamEvents = createStreamEventReader(conversation);
  let hasStarted = false;
  let hasResult = false;
  let isOver = false;
  let lastMessageId: string | undefined;

  const readInit = (frame: JsonRecord, out: Chunk[]): void => {
    conversation.close(lanes.main, out);
    if (hasStarted) {
      out.push(noticeItem("init", frame));
      return;
    }
    hasStarted = true;
    const model = ownString(frame, "model");
    const sessionId = ownString(frame, "session_id");
    const tools = ownArray(frame, "tools")?.filter((name) => typeof name === "string");
    out.push(
      startItem({
        backend: "claude-code",
        mode: options.mode ?? "plain",
        ...(model !== undefined && { model }),
        ...(sessionId !== undefined && { sessionId }),
        ...(tools !== undefined && { tools: tools.map(conversation.toolName) }),
      }),
    );
  };

  const readDenial = (frame: JsonRecord, out: Chunk[]): boolean => {
    const callId = ownString(frame, "tool_use_id");
    const name = ownString(frame, "tool_name");
    if (callId === undefined || name === undefined || !ledger.deny(callId)) return false;
    const reason = ownString(frame, "message") ?? ownString(frame, "decision_reason");
    const parent = parentOf(frame);
    conversation.behind(callId, out).push(
      permissionItem({
        callId,
        name: conversation.toolName(name),
        state: "denied",
        by: "rule",
        ...(reason !== undefined && { reason }),
        ...(parent !== undefined && { parent }),
      }),
    );
    return true;
  };

  const readSystem = (frame: JsonRecord, subtype: string, out: Chunk[]): boolean => {
    if (subtype === "init") {
      readInit(frame, out);
      return true;
    }
    if (subtype === "permission_denied") return readDenial(frame, out);
    const kind = SYSTEM_NOTICES.get(subtype);
    if (kind === undefined) return false;
    const place = conversation.behind(ownString(frame, "tool_use_id"), out);
    if (subtype === "task_notification") {
      // The last word of a background sub-agent; its messages are not followed by an answer to its call.
      const lane = lanes.take(ownString(frame, "tool_use_id") ?? "");
      if (lane !== undefined) conversation.close(lane, place);
    }
    place.push(noticeItem(kind, frame));
    return true;
  };

  const readResult = (frame: JsonRecord, out: Chunk[]): boolean => {
    const verdict = verdicts.read(frame);
    if (verdict === undefined) return false;
    // Only the main conversation: sub-agents in the background go on writing after it.
    const last = lanes.main.streamed ?? lanes.main.whole;
    conversation.close(lanes.main, out);
    // The CLI calls a turn over whose last message its host only paused.
    if (last?.stopReason === "pause" && !verdict.isError) out.push(warningItem(unfinishedReply()));
    out.push(verdict);
    hasResult = true;
    return true;
  };

  /** Where a frame of the assistant's belongs. A sub-agent that speaks is not kept waiting for the rest of the message. */
  const laneOf = (value: JsonRecord, out: Chunk[]): SubStream => {
    const parent = parentOf(value);
    if (parent !== undefined) conversation.tellNow(parent, out);
    return lanes.get(parent);
  };

  /** Whether the frame was understood; what was not is kept as a notice. */
  const read = (frame: DataFrame, value: JsonRecord, type: string, out: Chunk[]): boolean => {
    switch (type) {
      case "assistant":
        if (parentOf(value) === undefined) lastMessageId = ownString(value, "uuid") ?? lastMessageId;
        return conversation.read(laneOf(value, out), value, out);
      case "user":
        return user.read(lanes.get(parentOf(value)), frame, value, out);
      case "result":
        if (options.hasSeveralRuns === true) ledger.endTurn();
        return readResult(value, out);
      case "system":
        return readSystem(value, ownString(value, "subtype") ?? "", out);
      default: {
        const kind = FRAME_NOTICES.get(type);
        if (kind === undefined) return false;
        // A question must not wait for a message to end that may itself be waiting for the answer.
        const place = kind === "control" ? out : conversation.behind(ownString(value, "tool_use_id"), out);
        place.push(noticeItem(kind, value));
        return true;
      }
    }
  };

  return {
    decode(frame: DataFrame, out: Chunk[]): void {
      held = out;
      const { value } = frame;
      if (!isRecord(value)) {
        out.push(value === undefined ? jsonDecodeError(frame) : unknownNotice(kindOfValue(value), frame));
        return;
      }
      const { type } = value;
      if (type === "stream_event") {
        const unknown = streamEvents.read(laneOf(value, out), frame, value, out);
        if (unknown !== undefined) out.push(unknownNotice(unknown, frame));
        return;
      }
      const isKnown = typeof type === "string" && read(frame, value, type, out);
      if (!isKnown) out.push(unknownNotice(nameOf(value), frame));
      else if (options.keepRaw === true) conversation.keepRaw(() => rawOf(frame));
    },
    get lastMessageId(): string | undefined {
      return lastMessageId;
    },
    isWaiting: (callId: string): boolean => conversation.isWaiting(callId),
    tellNow(callId: string): Chunk[] {
      const out: Chunk[] = [];
      conversation.tellNow(callId, out);
      return out;
    },
    end(): Chunk[] {
      if (isOver) return [];
      isOver = true;
      const out: Chunk[] = [];
      for (const lane of lanes.all()) conversation.close(lane, out);
      if (!hasResult) out.push(noResult());
      return out;
    },
  };
}

function nameOf(frame: JsonRecord): string {
  const type = ownString(frame, "type") ?? "object";
  const subtype = ownString(frame, "subtype");
  return type === "system" && subtype !== undefined ? `system/${subtype}` : type;
}

function noResult(): Chunk {
  return errorItem({
    code: "no-result",
    message: "Claude Code ended without a result.",
    terminal: true,
    diagnostic: {
      hint: "The process was stopped, crashed, or refused its arguments; its stderr and exit code say which.",
    },
  });
}
