import {
  type AgentEvent,
  checkOptionNames,
  type ErrorItem,
  isDelta,
  type ItemEvent,
  type MessageItem,
  type NoticeItem,
  type PermissionItem,
  type ToolResultItem,
  unreachable,
} from "#domain";
import type { ItemMessage, StreamItem } from "./item.ts";
import { toItemError, toItemWarning } from "./item-errors.ts";
import {
  assistantMessage,
  envelope,
  resultMessage,
  streamEvent,
  systemInit,
  toContentBlock,
  toolResultBlock,
  userMessage,
} from "./item-messages.ts";
import { asText } from "./json-text.ts";
import { applyView, type EventSource, NOTHING, type View } from "./view.ts";

/** The options of `toItems`. */
export interface ItemOptions {
  /** Also emits each delta as a `StreamEvent` message. Off by default: only finished messages appear. */
  readonly partialMessages?: boolean;
}

const END: StreamItem = { type: "EndOfStream" };

/**
 * Translates a run into the strict message stream: messages, warnings and errors under their canonical names, then
 * exactly one `EndOfStream`, also if the log breaks off.
 *
 * A `Result` is a message, not a judgement: only warnings follow it, and a failed one is not repeated as an error.
 * Messages of sub-agents have `parent_tool_use_id`. Unknown frames are `UnexpectedMessageError`s. Raw frames appear if
 * the events contain them.
 *
 * @example
 * for await (const item of toItems(run("offline", "Hello"))) if (item.type === "WarningEvent") console.error(item.warning.code)
 */
export function toItems(events: EventSource, options: ItemOptions = {}): AsyncIterableIterator<StreamItem> {
  return applyView(events, createItems(options));
}

/**
 * The synchronous form of `toItems`.
 *
 * @example
 * const view = createItems()
 * for await (const event of run("offline", "Hello")) for (const item of view.next(event)) console.log(item.type)
 */
export function createItems(options: ItemOptions = {}): View<StreamItem> {
  checkOptionNames(options, ["partialMessages"] satisfies (keyof ItemOptions)[], "items");
  const answered = new Set<string>();
  let denials: unknown[] = [];
  let sessionId: string | undefined;
  let resultSeen = false;
  let warnedOfNoResult = false;
  let over = false;

  const onMessage = (item: MessageItem): readonly StreamItem[] => {
    if (item.parent === undefined) resultSeen = false;
    if (item.role === "assistant") return [envelope(assistantMessage(item, sessionId), item.raw)];
    const news = item.blocks.filter((block) => block.type !== "tool-result" || !answered.has(block.callId));
    if (news.length === 0 && item.blocks.length > 0) return NOTHING;
    for (const block of news) if (block.type === "tool-result") answered.add(block.callId);
    return [envelope(userMessage(news.map(toContentBlock), item.parent, sessionId), item.raw)];
  };

  const onToolResult = (item: ToolResultItem): readonly StreamItem[] => {
    if (answered.has(item.callId)) return NOTHING;
    answered.add(item.callId);
    return [envelope(userMessage([toolResultBlock(item)], item.parent, sessionId), item.raw)];
  };

  const onPermission = ({ state, name, callId, input }: PermissionItem): readonly StreamItem[] => {
    if (state === "denied") denials.push({ tool_name: name, tool_use_id: callId, tool_input: input ?? null });
    return NOTHING;
  };

  const onNotice = (notice: NoticeItem): readonly StreamItem[] => {
    const { kind, data, raw } = notice;
    if (kind.startsWith("unknown:")) {
      const rawJson = raw?.json || asText(data);
      return [resultSeen ? lateMessage(rawJson) : { type: "UnexpectedMessageError", raw_json: rawJson }];
    }
    // A retraction concerns deltas; without deltas there is nothing to discard.
    if (kind === "retract" && options.partialMessages !== true) return NOTHING;
    return [system(kind, data, notice)];
  };

  const system = (subtype: string, data: unknown, event: AgentEvent): StreamItem => {
    const session = sessionId === undefined ? {} : { session_id: sessionId };
    return envelope({ type: "System", subtype, ...session, data } satisfies ItemMessage, event.raw);
  };

  const onError = (event: ErrorItem): readonly StreamItem[] => {
    if (event.terminal) {
      if (event.code === "failed-result" && resultSeen) return NOTHING;
      if (event.code !== "no-result" || event.diagnostic?.exitCode) return [toItemError(event)];
      if (warnedOfNoResult) return NOTHING;
      warnedOfNoResult = true;
      return [{ type: "WarningEvent", warning: { code: "CleanExitNoResult", message: event.message } }];
    }
    const error = toItemError(event);
    return [resultSeen ? lateMessage(event.raw?.json || event.message) : error];
  };

  const onItem = (event: ItemEvent): readonly StreamItem[] => {
    switch (event.type) {
      case "start":
        sessionId = event.sessionId ?? sessionId;
        return [envelope(systemInit(event), event.raw)];
      case "message":
        return onMessage(event);
      case "tool-result":
        return onToolResult(event);
      case "result": {
        resultSeen = true;
        sessionId = event.sessionId ?? sessionId;
        const message = resultMessage(event, denials);
        denials = [];
        return [envelope(message, event.raw)];
      }
      case "warning":
        warnedOfNoResult ||= event.code === "clean-exit-no-result";
        return [{ type: "WarningEvent", warning: toItemWarning(event) }];
      case "error":
        return onError(event);
      case "permission":
        return onPermission(event);
      case "notice":
        return onNotice(event);
      case "handoff":
        return [system("handoff", { from: event.from, to: event.to, message: event.message }, event)];
      case "tool-call":
        // The call is a block of its message.
        return NOTHING;
      default:
        return unreachable(event);
    }
  };

  const end = (): readonly StreamItem[] => {
    if (over) return NOTHING;
    over = true;
    return [END];
  };

  return {
    next(event) {
      if (over) return NOTHING;
      if (event.type === "done") return end();
      if (!isDelta(event)) return onItem(event);
      return options.partialMessages === true ? [envelope(streamEvent(event, sessionId), event.raw)] : NOTHING;
    },
    end,
  };
}

function lateMessage(context: string): StreamItem {
  return {
    type: "WarningEvent",
    warning: {
      code: "UnexpectedMessageAfterResult",
      message: "Something arrived after the result; it changes nothing.",
      context,
    },
  };
}
