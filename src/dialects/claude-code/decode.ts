import { type Chunk, errorItem, noticeItem, permissionItem, present, startItem, warningItem } from "#domain";
import { type DataFrame, isRecord, type JsonRecord, ownArray, ownString, rawOf } from "#wire";
import type { Adapter, AdapterOptions, Format } from "../shared/format.ts";
import { kindOfValue } from "../shared/message-fields.ts";
import { jsonDecodeError, unfinishedReply, unknownNotice } from "../shared/stream-faults.ts";
import { createAssistantMessages } from "./assistant-messages.ts";
import { createVerdictReader } from "./end.ts";
import { createSubStreams, type SubStream } from "./sub-stream.ts";
import { FRAME_NOTICES, SYSTEM_NOTICES, systemNotice } from "./notices.ts";
import { createStreamEventReader, parentOf } from "./stream-event.ts";
import { createOpenToolCalls } from "./open-tool-calls.ts";
import { createUserReader } from "./user-message.ts";

/**
 * The output of the Claude Code CLI with `--output-format stream-json`, with or without partial messages.
 *
 * A message is emitted when it is over, followed by its tool calls and then by what arrived about them meanwhile.
 * Several results are normal. The end of the stream is the end of the run; an end without any result is an error.
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

/** An adapter that can emit a call before its message is complete, for decisions that cannot be delayed. */
export interface ClaudeCodeAdapter extends Adapter {
  /** Whether the call is known but held back because its message is not over. */
  isWaiting(callId: string): boolean;
  /**
   * Emits the message of a held call as far as it is written, and the call. The message is emitted again at its end.
   */
  emitNow(callId: string): Chunk[];
  /** The CLI's id of the last message in the main conversation. */
  readonly lastMessageId: string | undefined;
  /** The agents that the CLI can run as, by its first init. Older versions do not list them. */
  readonly agents: readonly string[] | undefined;
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
    emitNow: (callId) => stream.emitNow(callId),
    get lastMessageId() {
      return stream.lastMessageId;
    },
    get agents() {
      return stream.agents;
    },
    reset() {
      stream = createStream(options);
    },
  };
}

function createStream(options: AdapterOptions) {
  const ownTool = (name: string): string | undefined => options.ownTool?.(name);
  const openCalls = createOpenToolCalls();
  const assistant = createAssistantMessages(openCalls, ownTool);
  /** Where chunks of the current frame go when a sub-stream is evicted. */
  let held: Chunk[] = [];
  const subStreams = createSubStreams((subStream) => assistant.close(subStream, held));
  const user = createUserReader({ openCalls, assistant, subStreams });
  const verdicts = createVerdictReader();
  const streamEvents = createStreamEventReader(assistant);
  let hasStarted = false;
  let hasResult = false;
  let isOver = false;
  let lastMessageId: string | undefined;
  let agents: readonly string[] | undefined;

  const readInit = (frame: JsonRecord, out: Chunk[]): void => {
    assistant.close(subStreams.main, out);
    if (hasStarted) {
      out.push(noticeItem("init", frame));
      return;
    }
    hasStarted = true;
    agents = ownArray(frame, "agents")?.filter((name) => typeof name === "string");
    const model = ownString(frame, "model");
    const sessionId = ownString(frame, "session_id");
    const tools = ownArray(frame, "tools")?.filter((name) => typeof name === "string");
    out.push(
      startItem({
        backend: "claude-code",
        mode: options.mode ?? "plain",
        ...present({ model, sessionId }),
        ...(tools !== undefined && { tools: tools.map(assistant.toolName) }),
      }),
    );
  };

  const readDenial = (frame: JsonRecord, out: Chunk[]): boolean => {
    const callId = ownString(frame, "tool_use_id");
    const name = ownString(frame, "tool_name");
    if (callId === undefined || name === undefined || !openCalls.deny(callId)) return false;
    const reason = ownString(frame, "message") ?? ownString(frame, "decision_reason");
    const parent = parentOf(frame);
    assistant.listFor(callId, out).push(
      permissionItem({
        callId,
        name: assistant.toolName(name),
        state: "denied",
        by: "rule",
        ...present({ reason, parent }),
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
    const place = assistant.listFor(ownString(frame, "tool_use_id"), out);
    if (subtype === "task_notification") {
      // The last report on a background sub-agent; no tool result follows its messages.
      const subStream = subStreams.take(ownString(frame, "tool_use_id") ?? "");
      if (subStream !== undefined) assistant.close(subStream, place);
    }
    place.push(systemNotice(kind, frame));
    return true;
  };

  const readResult = (frame: JsonRecord, out: Chunk[]): boolean => {
    const verdict = verdicts.read(frame);
    if (verdict === undefined) return false;
    // Only the main conversation ends: background sub-agents continue after a result.
    const last = subStreams.main.streamed ?? subStreams.main.whole;
    assistant.close(subStreams.main, out);
    // The CLI ends a turn even if its host only paused the last message.
    if (last?.stopReason === "pause" && !verdict.isError) out.push(warningItem(unfinishedReply()));
    out.push(verdict);
    hasResult = true;
    return true;
  };

  /**
   * The sub-stream of an assistant frame. Output of a sub-agent is not delayed until the rest of the message is there.
   */
  const subStreamOf = (value: JsonRecord, out: Chunk[]): SubStream => {
    const parent = parentOf(value);
    if (parent !== undefined) assistant.emitNow(parent, out);
    return subStreams.get(parent);
  };

  /** Returns whether the frame was understood; one that was not is kept as a notice. */
  const read = (frame: DataFrame, value: JsonRecord, type: string, out: Chunk[]): boolean => {
    switch (type) {
      case "assistant":
        if (parentOf(value) === undefined) lastMessageId = ownString(value, "uuid") ?? lastMessageId;
        return assistant.read(subStreamOf(value, out), value, out);
      case "user":
        return user.read(subStreams.get(parentOf(value)), frame, value, out);
      case "result":
        if (options.hasSeveralRuns === true) openCalls.endTurn();
        return readResult(value, out);
      case "system":
        return readSystem(value, ownString(value, "subtype") ?? "", out);
      default: {
        const kind = FRAME_NOTICES.get(type);
        if (kind === undefined) return false;
        // A question cannot be held until its message ends: the message may itself depend on the answer.
        const place = kind === "control" ? out : assistant.listFor(ownString(value, "tool_use_id"), out);
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
        const unknown = streamEvents.read(subStreamOf(value, out), frame, value, out);
        if (unknown !== undefined) out.push(unknownNotice(unknown, frame));
        return;
      }
      const isKnown = typeof type === "string" && read(frame, value, type, out);
      if (!isKnown) out.push(unknownNotice(nameOf(value), frame));
      else if (options.keepRaw === true) assistant.keepRaw(() => rawOf(frame));
    },
    get lastMessageId(): string | undefined {
      return lastMessageId;
    },
    get agents(): readonly string[] | undefined {
      return agents;
    },
    isWaiting: (callId: string): boolean => assistant.isWaiting(callId),
    emitNow(callId: string): Chunk[] {
      const out: Chunk[] = [];
      assistant.emitNow(callId, out);
      return out;
    },
    end(): Chunk[] {
      if (isOver) return [];
      isOver = true;
      const out: Chunk[] = [];
      for (const subStream of subStreams.all()) assistant.close(subStream, out);
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
