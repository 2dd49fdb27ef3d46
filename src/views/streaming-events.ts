import {
  type AgentEvent,
  checkOptionNames,
  createShownText,
  type RunResult,
  type TextPiece,
  unreachable,
  type Usage,
} from "#domain";
import { applyView, type EventSource, NOTHING, type View } from "./view.ts";

/** One event of the streaming SDK's vocabulary. Names have hyphens, never underscores. */
export type StreamingEvent =
  | StreamingMessage
  | Stamped<"streaming:thinking", { readonly text: string }>
  | Stamped<"streaming:tool-use", StreamingToolUse>
  | Stamped<"streaming:tool-result", StreamingToolResult>
  | Stamped<"streaming:error", { readonly message: string; readonly code: string; readonly terminal: boolean }>
  | Stamped<"streaming:metadata", StreamingMetadata>;

type Stamped<Type extends string, Content> = Content & { readonly type: Type; readonly timestamp: number };

/** A piece of text. `retracted` comes with an empty one: text shown before that a retry made void. */
export type StreamingMessage = Stamped<
  "streaming:message",
  {
    readonly chunk: string;
    readonly role: "assistant";
    readonly retracted?: { readonly messageId: string; readonly text: string };
  }
>;

/** A tool call; `parent` is set if a sub-agent makes it. */
export interface StreamingToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly parent?: string;
}

/** The answer to one tool call. */
export interface StreamingToolResult {
  readonly toolUseId: string;
  readonly result: unknown;
  readonly success: boolean;
  readonly parent?: string;
}

/** Everything else. `kind` names it; the item itself is in `event`, without its raw frame. */
export interface StreamingMetadata {
  readonly kind: "start" | "result" | "done" | "message" | "permission" | "handoff" | "notice" | "warning";
  readonly usage?: Usage;
  readonly model?: string;
  readonly timing?: { readonly durationMs: number };
  readonly event?: AgentEvent;
}

/** What is shown in addition to messages and errors. */
export interface Visibility {
  readonly showThinking?: boolean;
  readonly showTools?: boolean;
  readonly showMetadata?: boolean;
  readonly showAll?: boolean;
}

const VISIBILITY_NAMES = ["showThinking", "showTools", "showMetadata", "showAll"] satisfies (keyof Visibility)[];

/**
 * Translates a run into the streaming SDK's events. Messages and errors are always included; thinking, tools and
 * metadata on request. Tools of a sub-agent have `parent`; its messages are metadata, not text.
 *
 * @example
 * for await (const event of toStreamingEvents(run("offline", "Hello"), { showTools: true })) console.log(event.type)
 */
export function toStreamingEvents(
  events: EventSource,
  options: Visibility = {},
): AsyncIterableIterator<StreamingEvent> {
  return applyView(events, createStreamingEvents(options));
}

/**
 * The synchronous form of `toStreamingEvents`.
 *
 * @example
 * const view = createStreamingEvents()
 * for await (const event of run("offline", "Hello")) for (const output of view.next(event)) console.log(output.type)
 */
export function createStreamingEvents(options: Visibility = {}): View<StreamingEvent> {
  checkOptionNames(options, VISIBILITY_NAMES, "streaming events");
  const shown = createShownText();
  const isVisible = visibilityOf(options);

  const onNotice = (event: AgentEvent & { type: "notice" }): readonly StreamingEvent[] => {
    if (event.kind !== "retract") return [metadata(event, { kind: "notice", event: withoutRaw(event) })];
    const retracted = shown.retract(event);
    if (retracted === undefined || retracted.text === "") return NOTHING;
    const { messageId, text } = retracted;
    const message = { type: "streaming:message", chunk: "", role: "assistant" } as const;
    return [{ ...message, retracted: { messageId, text }, timestamp: event.ts }];
  };

  const toEvents = (event: AgentEvent): readonly StreamingEvent[] => {
    switch (event.type) {
      case "text-delta":
      case "thinking-delta":
        return shown.read(event).map((piece) => pieceEvent(piece, event.ts));
      case "message":
        if (event.parent === undefined) return shown.read(event).map((piece) => pieceEvent(piece, event.ts));
        return [metadata(event, { kind: "message", event: withoutRaw(event) })];
      case "tool-call": {
        const { callId, name, input, parent, ts } = event;
        const use = { id: callId, name, input, ...(parent !== undefined && { parent }) };
        return [{ type: "streaming:tool-use", ...use, timestamp: ts }];
      }
      case "tool-result": {
        const { callId, output, isError, parent, ts } = event;
        const result = {
          toolUseId: callId,
          result: output,
          success: !isError,
          ...(parent !== undefined && { parent }),
        };
        return [{ type: "streaming:tool-result", ...result, timestamp: ts }];
      }
      case "error": {
        const { message, code, terminal, ts } = event;
        return [{ type: "streaming:error", message, code, terminal, timestamp: ts }];
      }
      case "notice":
        return onNotice(event);
      case "start": {
        const { model } = event;
        return [metadata(event, { kind: "start", ...(model !== undefined && { model }), event: withoutRaw(event) })];
      }
      case "result": {
        const { usage, ms } = event;
        const timing = ms === undefined ? {} : { timing: { durationMs: ms } };
        return [metadata(event, { kind: "result", usage, ...timing, event: withoutRaw(event) })];
      }
      case "done":
        return [metadata(event, doneMetadata(event.result))];
      case "permission":
      case "handoff":
      case "warning":
        return [metadata(event, { kind: event.type, event: withoutRaw(event) })];
      case "tool-input-delta":
        return NOTHING;
      default:
        return unreachable(event);
    }
  };

  return { next: (event) => toEvents(event).filter(isVisible), end: () => NOTHING };
}

function visibilityOf(options: Visibility): (event: StreamingEvent) => boolean {
  const { showAll = false, showThinking = false, showTools = false, showMetadata = false } = options;
  const shown: Record<StreamingEvent["type"], boolean> = {
    "streaming:message": true,
    "streaming:error": true,
    "streaming:thinking": showAll || showThinking,
    "streaming:tool-use": showAll || showTools,
    "streaming:tool-result": showAll || showTools,
    "streaming:metadata": showAll || showMetadata,
  };
  return (event) => shown[event.type];
}

function pieceEvent(piece: TextPiece, timestamp: number): StreamingEvent {
  if (piece.kind === "thinking") return { type: "streaming:thinking", text: piece.text, timestamp };
  return { type: "streaming:message", chunk: piece.text, role: "assistant", timestamp };
}

function metadata(event: AgentEvent, content: StreamingMetadata): StreamingEvent {
  return { type: "streaming:metadata", ...content, timestamp: event.ts };
}

function doneMetadata({ usage, model, ms }: RunResult): StreamingMetadata {
  return { kind: "done", usage, ...(model !== undefined && { model }), timing: { durationMs: ms } };
}

/** Raw frames contain bytes, which JSON cannot represent. */
function withoutRaw(event: AgentEvent): AgentEvent {
  if (event.raw === undefined) return event;
  const { raw: _, ...rest } = event;
  return rest;
}
