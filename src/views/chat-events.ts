import { type AgentEvent, checkOptionNames, createShownText, type DoneEvent, unreachable } from "#domain";
import { type ChunkUsage, chunkUsage, type RetractedText } from "./stream-chunks.ts";
import { REPORT_OPTION_NAMES, type ReportOptions, readReports } from "./tool-reports.ts";
import { applyView, type EventSource, NOTHING, type View } from "./view.ts";

/** One event of the chat vocabulary: a name and its data. */
export type ChatEvent =
  | { readonly event: "text_delta"; readonly data: { readonly text: string; readonly retracted?: RetractedText } }
  | { readonly event: "tool_executing"; readonly data: ChatTool }
  | { readonly event: "artifact_created"; readonly data: unknown }
  | { readonly event: "message_complete"; readonly data: ChatMessage }
  | { readonly event: "error"; readonly data: { readonly message: string; readonly code: string } };

/** A running tool. */
export interface ChatTool {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  /** Present if a sub-agent uses the tool. */
  readonly parent?: string;
}

/** The finished answer. `content` is authoritative; the deltas are a preview. */
export interface ChatMessage {
  readonly content: string;
  readonly usage: ChunkUsage;
  readonly model: string | null;
  readonly documents_used: readonly unknown[];
}

/** Functions with which `toChatEvents` finds artifacts and documents that the tools do not report themselves. */
export interface ChatOptions extends ReportOptions {}

/**
 * Translates a run into the events of a chat server. Exactly one of them ends it: `message_complete` if the run
 * succeeded, otherwise `error`, also if the log breaks off. The text of sub-agents is left out.
 *
 * @example
 * for await (const { event, data } of toChatEvents(run("offline", "Hello"))) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
 */
export function toChatEvents(events: EventSource, options: ChatOptions = {}): AsyncIterableIterator<ChatEvent> {
  return applyView(events, createChatEvents(options));
}

/**
 * The synchronous form of `toChatEvents`.
 *
 * @example
 * const view = createChatEvents()
 * for await (const event of run("offline", "Hello")) for (const output of view.next(event)) console.log(output.event)
 */
export function createChatEvents(options: ChatOptions = {}): View<ChatEvent> {
  checkOptionNames(options, REPORT_OPTION_NAMES, "chat events");
  const shown = createShownText({ keepText: true });
  const documents: unknown[] = [];
  let model: string | null = null;
  let over = false;

  const fail = (code: string, message: string): readonly ChatEvent[] => {
    over = true;
    return [{ event: "error", data: { message, code } }];
  };

  const onReport = (event: AgentEvent): readonly ChatEvent[] => {
    const reports = readReports(event, options);
    if (reports === undefined) return NOTHING;
    documents.push(...reports.documents);
    return reports.artifacts.map((artifact) => ({ event: "artifact_created", data: artifact }));
  };

  const onDone = ({ result }: DoneEvent): readonly ChatEvent[] => {
    if (result.status !== "success") {
      const why = result.error?.message ?? `The run ended with ${result.subtype}.`;
      return fail(result.error?.code ?? result.subtype, why);
    }
    over = true;
    const message: ChatMessage = {
      content: shown.whole("text"),
      usage: chunkUsage(result.usage),
      model: result.model ?? model,
      documents_used: documents,
    };
    return [{ event: "message_complete", data: message }];
  };

  const onEvent = (event: AgentEvent): readonly ChatEvent[] => {
    switch (event.type) {
      case "text-delta":
      case "thinking-delta":
      case "message":
        if (event.type === "message" && event.parent === undefined) model = event.model ?? model;
        return shown
          .read(event)
          .flatMap(({ kind, text }): ChatEvent[] => (kind === "text" ? [{ event: "text_delta", data: { text } }] : []));
      case "tool-call": {
        const { callId, name, input, parent } = event;
        const tool = { id: callId, tool: name, input, ...(parent !== undefined && { parent }) };
        return [{ event: "tool_executing", data: tool }];
      }
      case "tool-result":
        return onReport(event);
      case "notice": {
        const retracted = shown.retract(event);
        if (retracted === undefined) return onReport(event);
        if (retracted.text === "") return NOTHING;
        const { messageId, text } = retracted;
        return [{ event: "text_delta", data: { text: "", retracted: { message_id: messageId, text } } }];
      }
      case "start":
        model = event.model ?? model;
        return NOTHING;
      case "error":
        return event.terminal ? fail(event.code, event.message) : NOTHING;
      case "done":
        return onDone(event);
      case "tool-input-delta":
      case "permission":
      case "handoff":
      case "warning":
      case "result":
        return NOTHING;
      default:
        return unreachable(event);
    }
  };

  return {
    next: (event) => (over ? NOTHING : onEvent(event)),
    end: () => (over ? NOTHING : fail("stream-cut", "The events broke off before the run was done.")),
  };
}
