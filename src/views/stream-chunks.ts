import {
  addUsage,
  type AgentEvent,
  createShownText,
  type Retracted,
  type RunResult,
  type RunStatus,
  type TextPiece,
  unreachable,
  type Usage,
} from "#domain";
import { asText } from "./json-text.ts";
import { applyView, type EventSource, NOTHING, type View } from "./view.ts";

/** One chunk of the backend study's vocabulary, distinguished by `chunk_type`. */
export type StreamChunk =
  | { readonly chunk_type: "text"; readonly content: string; readonly metadata?: { readonly retracted: RetractedText } }
  | { readonly chunk_type: "thinking"; readonly thinking_content: string }
  | ToolUseChunk
  | ToolResultChunk
  | CompleteChunk
  | { readonly chunk_type: "error"; readonly error: string; readonly metadata: { readonly code: string } };

/** Text shown before that a retry made void. Our addition to the vocabulary: it comes with an empty piece of text. */
export interface RetractedText {
  readonly message_id: string;
  readonly text: string;
}

/** A tool call for display only: the tool is already running and must not be run again. */
export interface ToolUseChunk {
  readonly chunk_type: "tool_use";
  readonly tool_call: { readonly id: string; readonly name: string; readonly input: unknown };
  readonly metadata: { readonly executed_by: "millrace" | "backend"; readonly parent?: string };
}

/** The answer to one tool call. */
export interface ToolResultChunk {
  readonly chunk_type: "tool_result";
  /** The output as text. */
  readonly content: string;
  readonly tool_result: { readonly id: string; readonly name: string; readonly output: unknown };
  readonly metadata: { readonly is_error: boolean; readonly parent?: string };
}

/** The end: exactly one, always last, also after an error. */
export interface CompleteChunk {
  readonly chunk_type: "complete";
  readonly usage: ChunkUsage;
  readonly metadata: { readonly status: RunStatus; readonly model?: string; readonly cost_usd?: number };
}

/** Tokens of the whole run; 0 if unknown. */
export interface ChunkUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/**
 * Translates a run into stream chunks: text once, tools for display, exactly one `complete`. An `error` chunk contains
 * the reason of a failure; errors after which the run continued are not shown. The text of sub-agents is left out;
 * their tools have `parent`.
 *
 * @example
 * for await (const chunk of toStreamChunks(run("offline", "Hello"))) if (chunk.chunk_type === "text") process.stdout.write(chunk.content)
 */
export function toStreamChunks(events: EventSource): AsyncIterableIterator<StreamChunk> {
  return applyView(events, createStreamChunks());
}

/**
 * The synchronous form of `toStreamChunks`.
 *
 * @example
 * const view = createStreamChunks()
 * for await (const event of run("offline", "Hello")) for (const chunk of view.next(event)) console.log(chunk.chunk_type)
 */
export function createStreamChunks(): View<StreamChunk> {
  const shown = createShownText();
  let usage: Usage = {};
  let model: string | undefined;
  let failed = false;
  let over = false;

  const complete = (status: RunStatus, result?: RunResult): StreamChunk => {
    over = true;
    const answeredBy = result?.model ?? model;
    return {
      chunk_type: "complete",
      usage: chunkUsage(result?.usage ?? usage),
      metadata: {
        status,
        ...(answeredBy !== undefined && { model: answeredBy }),
        ...(result?.costUsd !== undefined && { cost_usd: result.costUsd }),
      },
    };
  };

  const onEvent = (event: AgentEvent): readonly StreamChunk[] => {
    switch (event.type) {
      case "text-delta":
      case "thinking-delta":
        return shown.read(event).map(textChunk);
      case "message":
        if (event.parent === undefined && event.role === "assistant") model = event.model ?? model;
        return shown.read(event).map(textChunk);
      case "tool-call": {
        const { callId, name, input, executedBy, parent } = event;
        const metadata = { executed_by: executedBy, ...(parent !== undefined && { parent }) };
        return [{ chunk_type: "tool_use", tool_call: { id: callId, name, input }, metadata }];
      }
      case "tool-result": {
        const { callId, name, output, isError, parent } = event;
        const metadata = { is_error: isError, ...(parent !== undefined && { parent }) };
        const tool_result = { id: callId, name, output };
        return [{ chunk_type: "tool_result", content: asText(output), tool_result, metadata }];
      }
      case "notice": {
        const retracted = shown.retract(event);
        return retracted === undefined || retracted.text === "" ? NOTHING : [retractionChunk(retracted)];
      }
      case "error":
        if (!event.terminal || failed) return NOTHING;
        failed = true;
        return [errorChunk(event.code, event.message)];
      case "start":
        model = event.model ?? model;
        return NOTHING;
      case "result":
        usage = addUsage(usage, event.usage);
        return NOTHING;
      case "done": {
        const { result } = event;
        const end = complete(result.status, result);
        if (result.status === "success" || failed) return [end];
        const why = result.error?.message ?? `The run ended with ${result.subtype}.`;
        return [errorChunk(result.error?.code ?? result.subtype, why), end];
      }
      case "tool-input-delta":
      case "permission":
      case "handoff":
      case "warning":
        return NOTHING;
      default:
        return unreachable(event);
    }
  };

  return {
    next: (event) => (over ? NOTHING : onEvent(event)),
    end: () => (over ? NOTHING : [complete("interrupted")]),
  };
}

/** Input and output tokens; an unknown count is 0 in this vocabulary. */
export function chunkUsage(usage: Usage): ChunkUsage {
  return { input_tokens: usage.inputTokens ?? 0, output_tokens: usage.outputTokens ?? 0 };
}

function textChunk(piece: TextPiece): StreamChunk {
  if (piece.kind === "thinking") return { chunk_type: "thinking", thinking_content: piece.text };
  return { chunk_type: "text", content: piece.text };
}

function retractionChunk({ messageId, text }: Retracted): StreamChunk {
  return { chunk_type: "text", content: "", metadata: { retracted: { message_id: messageId, text } } };
}

function errorChunk(code: string, error: string): StreamChunk {
  return { chunk_type: "error", error, metadata: { code } };
}
