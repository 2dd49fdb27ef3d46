import { type AgentEvent, type DoneEvent, type ToolResultItem, unreachable } from "#domain";
import { type ChunkUsage, chunkUsage, type RetractedText } from "./stream-chunks.ts";
import { createTextLedger } from "./text-ledger.ts";
import { applyView, type EventSource, NOTHING, type View } from "./view.ts";

/** One event of the chat vocabulary: a name and what is sent with it. */
export type ChatEvent =
  | { readonly event: "text_delta"; readonly data: { readonly text: string; readonly retracted?: RetractedText } }
  | { readonly event: "tool_executing"; readonly data: ChatTool }
  | { readonly event: "artifact_created"; readonly data: unknown }
  | { readonly event: "message_complete"; readonly data: ChatMessage }
  | { readonly event: "error"; readonly data: { readonly message: string; readonly code: string } };

/** A tool at work. */
export interface ChatTool {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  /** Present when a sub-agent uses the tool. */
  readonly parent?: string;
}

/** The finished answer. `content` is the truth about what the deltas showed. */
export interface ChatMessage {
  readonly content: string;
  readonly usage: ChunkUsage;
  readonly model: string | null;
  readonly documents_used: readonly unknown[];
}

/**
 * What only the application knows: which tool results are artifacts, and which documents they used. Without these
 * there are no `artifact_created` events and `documents_used` is empty. One that throws counts as "none".
 */
export interface ChatOptions {
  readonly artifactOf?: (result: ToolResultItem) => unknown;
  readonly documentsOf?: (result: ToolResultItem) => readonly unknown[];
}

/**
 * A run as the chat server's events. Exactly one of them ends it: `message_complete` when the run succeeded,
 * otherwise `error`, also when the log breaks off. A sub-agent's text is left out.
 *
 * @example
 * for await (const { event, data } of toChatEvents(run)) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
 */
export function toChatEvents(events: EventSource, options: ChatOptions = {}): AsyncIterableIterator<ChatEvent> {
  return applyView(events, createChatEvents(options));
}

/** The synchronous form of `toChatEvents`. */
export function createChatEvents(options: ChatOptions = {}): View<ChatEvent> {
  const ledger = createTextLedger({ keepText: true });
  const documents: unknown[] = [];
  let model: string | null = null;
  let over = false;

  const fail = (code: string, message: string): readonly ChatEvent[] => {
    over = true;
    return [{ event: "error", data: { message, code } }];
  };

  const onToolResult = (result: ToolResultItem): readonly ChatEvent[] => {
    const used: unknown = ask(options.documentsOf, result);
    if (Array.isArray(used)) for (const document of used) documents.push(document);
    const artifact = ask(options.artifactOf, result);
    return artifact === undefined || artifact === null ? NOTHING : [{ event: "artifact_created", data: artifact }];
  };

  const onDone = ({ result }: DoneEvent): readonly ChatEvent[] => {
    if (result.status !== "success") {
      const why = result.error?.message ?? `The run ended with ${result.subtype}.`;
      return fail(result.error?.code ?? result.subtype, why);
    }
    over = true;
    const message: ChatMessage = {
      content: ledger.whole("text"),
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
        return ledger
          .read(event)
          .flatMap(({ kind, text }): ChatEvent[] => (kind === "text" ? [{ event: "text_delta", data: { text } }] : []));
      case "tool-call": {
        const { callId, name, input, parent } = event;
        const tool = { id: callId, tool: name, input, ...(parent !== undefined && { parent }) };
        return [{ event: "tool_executing", data: tool }];
      }
      case "tool-result":
        return onToolResult(event);
      case "notice": {
        const retracted = ledger.retract(event);
        if (retracted === undefined || retracted.text === "") return NOTHING;
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

/** The caller's functions must not be able to break the stream. */
function ask<Answer>(
  question: ((result: ToolResultItem) => Answer) | undefined,
  result: ToolResultItem,
): Answer | undefined {
  try {
    return question?.(result);
  } catch {
    return undefined;
  }
}
