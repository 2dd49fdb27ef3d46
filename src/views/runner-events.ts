import {
  type AgentEvent,
  checkOptionNames,
  createShownText,
  type MessageItem,
  present,
  type Retracted,
  type RunResult,
  type ToolCallBlock,
  type ToolCallItem,
  type ToolResultItem,
  unreachable,
} from "#domain";
import { asText } from "./json-text.ts";
import { REPORT_OPTION_NAMES, type ReportOptions, readReports } from "./tool-reports.ts";
import { applyView, type EventSource, NOTHING, type View } from "./view.ts";

/** The three families of the runner's vocabulary: text that is being written, finished steps, the end. */
export type RunnerEvent = RawResponseEvent | RunItemEvent | RunCompleteEvent;

/** A piece of the answer's text. */
export interface RawResponseEvent {
  readonly type: "RawResponseEvent";
  readonly content: string;
  /** Text shown before that a retry made void; `content` is then empty. Our addition to the vocabulary. */
  readonly retracted?: { readonly message_id: string; readonly text: string };
}

/** One finished step; readers filter by `name`. */
export type RunItemEvent =
  | RunItem<"tool_call", RunnerToolCall & { readonly parent?: string }>
  | RunItem<"tool_result", RunnerToolResult>
  | RunItem<"message", RunnerMessage>
  | RunItem<"artifact_created", RunnerArtifact>
  | RunItem<"documents_used", RunnerDocuments>
  | RunItem<"handoff", { readonly from: string; readonly to: string; readonly message: string }>;

interface RunItem<Name extends string, Content> {
  readonly type: "RunItemEvent";
  readonly name: Name;
  readonly data: Content;
}

/** The end of the whole run, not of a leg: exactly one, always last. */
export interface RunCompleteEvent {
  readonly type: "RunCompleteEvent";
  readonly result: RunResult;
}

/** A tool call in the form of the transcript; `arguments` is JSON text. */
export interface RunnerToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The answer to one tool call. */
export interface RunnerToolResult {
  readonly call_id: string;
  readonly tool_name: string;
  /** The text that the model receives: values that are not strings are JSON. */
  readonly output: string;
  readonly is_error: boolean;
  readonly parent?: string;
}

/** Something that a tool has created. */
export interface RunnerArtifact {
  readonly call_id: string;
  readonly tool_name: string;
  readonly artifact: unknown;
}

/** Documents that a tool has used. */
export interface RunnerDocuments {
  readonly call_id: string;
  readonly tool_name: string;
  readonly documents: readonly unknown[];
}

/** A finished message. `parent` is set for messages of a sub-agent. */
export interface RunnerMessage {
  readonly id: string;
  readonly role: "assistant" | "user";
  readonly content: string;
  readonly tool_calls?: readonly RunnerToolCall[];
  readonly agent?: string;
  readonly parent?: string;
}

/**
 * Translates a run into the runner's three families. `RunCompleteEvent` appears once, at the end of the whole run; a
 * handoff or the result of a leg does not end it. The steps of a sub-agent appear as items with `parent`; its text is
 * not part of the answer.
 *
 * A log that breaks off completes with a result of status `interrupted`.
 *
 * @example
 * for await (const event of toRunnerEvents(run("offline", "Hello"))) if (event.type === "RawResponseEvent") process.stdout.write(event.content)
 */
export function toRunnerEvents(events: EventSource, options: ReportOptions = {}): AsyncIterableIterator<RunnerEvent> {
  return applyView(events, createRunnerEvents(options));
}

/**
 * The synchronous form of `toRunnerEvents`.
 *
 * @example
 * const view = createRunnerEvents()
 * for await (const event of run("offline", "Hello")) for (const output of view.next(event)) console.log(output.type)
 */
export function createRunnerEvents(options: ReportOptions = {}): View<RunnerEvent> {
  checkOptionNames(options, REPORT_OPTION_NAMES, "runner events");
  const shown = createShownText({ keepText: true });
  let over = false;

  const onMessage = (item: MessageItem): readonly RunnerEvent[] => {
    const events: RunnerEvent[] = [];
    for (const piece of shown.read(item)) {
      if (piece.kind === "text") events.push({ type: "RawResponseEvent", content: piece.text });
    }
    const message = toRunnerMessage(item);
    // A user message without text contains only tool results, which are separate items.
    if (message.role === "assistant" || message.content !== "") {
      events.push({ type: "RunItemEvent", name: "message", data: message });
    }
    return events;
  };

  const complete = (result: RunResult): readonly RunnerEvent[] => {
    over = true;
    return [{ type: "RunCompleteEvent", result }];
  };

  const onEvent = (event: AgentEvent): readonly RunnerEvent[] => {
    switch (event.type) {
      case "text-delta": {
        const [piece] = shown.read(event);
        return piece === undefined ? NOTHING : [{ type: "RawResponseEvent", content: piece.text }];
      }
      case "message":
        return onMessage(event);
      case "tool-call": {
        const call = toRunnerToolCall(event);
        const { parent } = event;
        return [{ type: "RunItemEvent", name: "tool_call", data: parent === undefined ? call : { ...call, parent } }];
      }
      case "tool-result":
        return [
          { type: "RunItemEvent", name: "tool_result", data: toRunnerToolResult(event) },
          ...toRunnerReports(event, options),
        ];
      case "handoff": {
        const { from, to, message } = event;
        return [{ type: "RunItemEvent", name: "handoff", data: { from, to, message } }];
      }
      case "notice": {
        const retracted = shown.retract(event);
        if (retracted === undefined) return toRunnerReports(event, options);
        return retracted.text === "" ? NOTHING : [toRetraction(retracted)];
      }
      case "done":
        return complete(event.result);
      case "thinking-delta":
      case "tool-input-delta":
      case "start":
      case "permission":
      case "warning":
      case "error":
      case "result":
        // Not in this vocabulary. The reason of a failure is in the result of the completion.
        return NOTHING;
      default:
        return unreachable(event);
    }
  };

  return {
    next: (event) => (over ? NOTHING : onEvent(event)),
    end: () => (over ? NOTHING : complete(interrupted(shown.whole("text")))),
  };
}

/** A tool call in the form of the transcript. Arguments that are not JSON stay text. */
function toRunnerToolCall(call: ToolCallItem | ToolCallBlock): RunnerToolCall {
  return { id: call.callId, type: "function", function: { name: call.name, arguments: asText(call.input) } };
}

function toRunnerToolResult({ callId, name, output, isError, parent }: ToolResultItem): RunnerToolResult {
  const result = { call_id: callId, tool_name: name, output: asText(output), is_error: isError };
  return parent === undefined ? result : { ...result, parent };
}

function toRunnerReports(event: AgentEvent, options: ReportOptions): readonly RunItemEvent[] {
  const reports = readReports(event, options);
  if (reports === undefined) return NOTHING;
  const { callId, name, artifacts, documents } = reports;
  const call = { call_id: callId, tool_name: name };
  const events: RunItemEvent[] = artifacts.map((artifact) => ({
    type: "RunItemEvent",
    name: "artifact_created",
    data: { ...call, artifact },
  }));
  if (documents.length === 0) return events;
  return [...events, { type: "RunItemEvent", name: "documents_used", data: { ...call, documents } }];
}

function toRunnerMessage({ id, role, blocks, agent, parent }: MessageItem): RunnerMessage {
  let content = "";
  const calls: RunnerToolCall[] = [];
  for (const block of blocks) {
    if (block.type === "text") content += block.text;
    if (block.type === "tool-call") calls.push(toRunnerToolCall(block));
  }
  return {
    id,
    role,
    content,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...present({ agent, parent }),
  };
}

function toRetraction({ messageId, text }: Retracted): RawResponseEvent {
  return { type: "RawResponseEvent", content: "", retracted: { message_id: messageId, text } };
}

function interrupted(text: string): RunResult {
  const error = {
    code: "stream-cut",
    message: "The events broke off before the run was done.",
    terminal: true,
  } as const;
  return {
    status: "interrupted",
    subtype: "interrupted",
    text,
    toolCalls: [],
    messages: [],
    usage: {},
    turns: 0,
    ms: 0,
    error,
    errors: [error],
    warnings: [],
  };
}
