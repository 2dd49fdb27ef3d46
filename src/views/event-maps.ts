import {
  type AgentEvent,
  createShownText,
  type DeltaEvent,
  type DoneEvent,
  type MessageItem,
  type NoticeItem,
  readRetraction,
  type ToolResultItem,
  unreachable,
} from "#domain";
import type { EventMap } from "./event-map.ts";
import { createMapWriter } from "./event-map-writer.ts";
import { applyView, type EventSource, NOTHING, type View } from "./view.ts";

/**
 * Translates a run into the event maps of a streaming session (`message_start`, `text_delta` with `accumulated`,
 * `tool_complete` …).
 *
 * Block boundaries are derived: the first delta of a block opens it, a delta of another block or the finished message
 * closes it. Only one block is open at a time, so interleaved fragments of several tool calls repeat `tool_use_start`
 * with the same id. Messages of a sub-agent appear whole as `message` maps and do not affect the text. The maps end
 * with the run; a failure is an `error` map.
 *
 * @example
 * for await (const map of toEventMaps(run("offline", "Hello"))) if (map.type === "text_delta") process.stdout.write(map.text)
 */
export function toEventMaps(events: EventSource): AsyncIterableIterator<EventMap> {
  return applyView(events, createEventMaps());
}

/**
 * The synchronous form of `toEventMaps`. It can process the runs of a session one after the other.
 *
 * @example
 * const view = createEventMaps()
 * for await (const event of run("offline", "Hello")) for (const map of view.next(event)) console.log(map.type)
 */
export function createEventMaps(): View<EventMap> {
  let shown = createShownText();
  let writer = createMapWriter();
  let failed = false;

  const onDelta = (event: DeltaEvent): readonly EventMap[] => {
    if (event.parent !== undefined) return NOTHING;
    switch (event.type) {
      case "text-delta":
        shown.read(event);
        writer.text(event.messageId, event.index, event.text);
        return writer.take();
      case "thinking-delta":
        shown.read(event);
        writer.thinking(event.messageId, event.index, event.text);
        return writer.take();
      case "tool-input-delta":
        writer.toolInput(event);
        return writer.take();
      default:
        return unreachable(event);
    }
  };

  const onMessage = (item: MessageItem): readonly EventMap[] => {
    const isRepeat = shown.isFinished(item.id) && !writer.isOpen(item.id);
    const pieces = shown.read(item);
    const bringsCall = item.blocks.some((block) => block.type === "tool-call" && !writer.hasCall(block.callId));
    if (isRepeat && pieces.length === 0 && !bringsCall) return NOTHING;
    writer.start(item);
    let next = 0;
    item.blocks.forEach((block, index) => {
      if (block.type === "tool-call") writer.call(block, { messageId: item.id, index });
      const piece = pieces[next];
      if (piece?.index !== index) return;
      next += 1;
      writer[piece.kind](item.id, index, piece.text);
    });
    writer.finish(item);
    return writer.take();
  };

  const onRetract = (notice: NoticeItem): readonly EventMap[] => {
    const { messageId, fromIndex = 0 } = readRetraction(notice) ?? {};
    const retracted = shown.retract(notice);
    if (messageId === undefined) return NOTHING;
    if (writer.isOpen(messageId)) writer.retract(fromIndex, shown.openText(messageId));
    else if (retracted === undefined) return NOTHING;
    const text = retracted?.text ?? "";
    const { accumulated } = writer;
    return [{ type: "retract", message_id: messageId, from_index: fromIndex, text, accumulated }];
  };

  const onDone = ({ result }: DoneEvent): readonly EventMap[] => {
    if (result.status === "success" && writer.isOpenAtAll()) writer.stop();
    const maps = writer.take();
    if (result.status !== "success" && !failed) {
      const message = result.error?.message ?? `The run ended with ${result.subtype}.`;
      maps.push(errorMap(result.error?.code ?? result.subtype, message, writer.accumulated));
    }
    shown = createShownText();
    writer = createMapWriter();
    failed = false;
    return maps;
  };

  const whole = (event: AgentEvent): readonly EventMap[] => [
    { type: "message", message: event, accumulated: writer.accumulated },
  ];

  return {
    next(event) {
      switch (event.type) {
        case "text-delta":
        case "thinking-delta":
        case "tool-input-delta":
          return onDelta(event);
        case "done":
          return onDone(event);
        case "error":
          failed ||= event.terminal;
          return [errorMap(event.code, event.message, writer.accumulated)];
        case "message":
          return event.parent === undefined && event.role === "assistant" ? onMessage(event) : whole(event);
        case "tool-call":
          if (event.parent !== undefined) return whole(event);
          writer.call(event);
          return writer.take();
        case "tool-result":
          return event.parent === undefined ? [toolComplete(event, writer.accumulated)] : whole(event);
        case "notice":
          return event.kind === "retract" ? onRetract(event) : whole(event);
        case "start":
          if (event.parent === undefined && event.model !== undefined) writer.model = event.model;
          return whole(event);
        case "permission":
        case "handoff":
        case "warning":
        case "result":
          return whole(event);
        default:
          return unreachable(event);
      }
    },
    end: () => NOTHING,
  };
}

function toolComplete({ name, output, isError }: ToolResultItem, accumulated: string): EventMap {
  if (isError) return { type: "tool_complete", tool_name: name, result: output, is_error: true, accumulated };
  return { type: "tool_complete", tool_name: name, result: output, accumulated };
}

/** The vocabulary has one word for a stream that took too long, in total or between two events. */
function errorMap(code: string, message: string, accumulated: string): EventMap {
  return { type: "error", error: code === "stalled" ? "timeout" : code, message, accumulated };
}
