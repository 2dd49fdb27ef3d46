import {
  addUsage,
  type AgentEvent,
  checkOptionNames,
  createShownText,
  type Message,
  type RunResult,
  type Usage,
} from "#domain";
import { createStreamingEvents, type StreamingEvent } from "./streaming-events.ts";
import { applyView, type EventSource, NOTHING, type View } from "./view.ts";

/** The flat result of a whole run; empty fields are absent. */
export interface StreamingResult {
  readonly text?: string;
  readonly thinking?: string;
  readonly toolCalls?: readonly StreamingToolCall[];
  readonly usage?: Usage;
  readonly errors?: readonly StreamingFailure[];
  /** All streaming events, whatever is shown. Only with `keepRawEvents`. */
  readonly events?: readonly StreamingEvent[];
}

/** A tool call with its result, once there is one. */
export interface StreamingToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly result?: unknown;
  readonly success?: boolean;
}

/** One error of the run. */
export interface StreamingFailure {
  readonly message: string;
  readonly code: string;
}

/** The options of `toStreamingResult`. */
export interface StreamingResultOptions {
  /** Fills `text`, `thinking`, `toolCalls`, `usage` and `errors`. On by default. */
  readonly accumulate?: boolean;
  /** Keeps `events`. Off by default; a finished `RunResult` contains none. */
  readonly keepRawEvents?: boolean;
}

const OPTION_NAMES = ["accumulate", "keepRawEvents"] satisfies (keyof StreamingResultOptions)[];

/**
 * The flat result of a run. Events are read to their end; for a finished `RunResult` the function returns
 * synchronously. `text` does not contain the text of sub-agents; `toolCalls` contains their tool calls.
 *
 * @example
 * const { text, toolCalls } = await toStreamingResult(run("offline", "Hello"))
 */
export function toStreamingResult(result: RunResult, options?: StreamingResultOptions): StreamingResult;
export function toStreamingResult(events: EventSource, options?: StreamingResultOptions): Promise<StreamingResult>;
export function toStreamingResult(
  source: EventSource | RunResult,
  options: StreamingResultOptions = {},
): StreamingResult | Promise<StreamingResult> {
  checkOptionNames(options, OPTION_NAMES, "a streaming result");
  const isEvents = Symbol.asyncIterator in source || Symbol.iterator in source;
  return isEvents ? readResult(source, options) : flatten(source, options);
}

/** The synchronous form: add events, and read `result` at any time. */
export interface StreamingAccumulator {
  add(event: AgentEvent): void;
  result(): StreamingResult;
}

/**
 * Creates the accumulator of one run.
 *
 * @example
 * const accumulator = createStreamingResult()
 * for await (const event of run("offline", "Hello")) accumulator.add(event)
 * console.log(accumulator.result())
 */
export function createStreamingResult(options: StreamingResultOptions = {}): StreamingAccumulator {
  checkOptionNames(options, OPTION_NAMES, "a streaming result");
  const shown = createShownText({ keepText: true });
  const calls = new Map<string, StreamingToolCall>();
  const errors: StreamingFailure[] = [];
  const kept: StreamingEvent[] = [];
  const view = options.keepRawEvents === true ? createStreamingEvents({ showAll: true }) : undefined;
  let usage: Usage = {};

  const accumulate = (event: AgentEvent): void => {
    if (event.type === "text-delta" || event.type === "thinking-delta" || event.type === "message") shown.read(event);
    else if (event.type === "notice") shown.retract(event);
    else if (event.type === "tool-call") {
      calls.set(event.callId, { id: event.callId, name: event.name, input: event.input });
    } else if (event.type === "tool-result") {
      const call = calls.get(event.callId);
      if (call !== undefined) calls.set(call.id, { ...call, result: event.output, success: !event.isError });
    } else if (event.type === "error") errors.push({ message: event.message, code: event.code });
    else if (event.type === "result") usage = addUsage(usage, event.usage);
    else if (event.type === "done") usage = event.result.usage;
  };

  return {
    add(event) {
      if (view !== undefined) for (const shown of view.next(event)) kept.push(shown);
      if (options.accumulate !== false) accumulate(event);
    },
    result: () => ({
      ...fields(shown.whole("text"), shown.whole("thinking"), [...calls.values()]),
      ...facts(usage, errors),
      ...(view !== undefined && { events: [...kept] }),
    }),
  };
}

async function readResult(events: EventSource, options: StreamingResultOptions): Promise<StreamingResult> {
  const accumulator = createStreamingResult(options);
  const reader: View<never> = {
    next(event) {
      accumulator.add(event);
      return NOTHING;
    },
    end: () => NOTHING,
  };
  await applyView(events, reader).next();
  return accumulator.result();
}

function flatten(result: RunResult, options: StreamingResultOptions): StreamingResult {
  if (options.accumulate === false) return {};
  const calls = result.toolCalls.map(({ callId, name, input, output, isError }): StreamingToolCall => {
    const call = { id: callId, name, input };
    return isError === undefined ? call : { ...call, result: output, success: !isError };
  });
  const texts = textsOf(result.messages);
  return { ...fields(texts.text, texts.thinking, calls), ...facts(result.usage, result.errors) };
}

/** The assistant's text in this run: after the last message of the input. */
function textsOf(messages: readonly Message[]): Record<"text" | "thinking", string> {
  const input = messages.findLastIndex(
    ({ role, blocks, source }) =>
      role === "user" && source === undefined && blocks.some((block) => block.type !== "tool-result"),
  );
  const texts = { text: "", thinking: "" };
  for (const { role, blocks } of messages.slice(input + 1)) {
    if (role !== "assistant") continue;
    for (const block of blocks) if (block.type === "text" || block.type === "thinking") texts[block.type] += block.text;
  }
  return texts;
}

function fields(text: string, thinking: string, toolCalls: readonly StreamingToolCall[]): StreamingResult {
  return {
    ...(text !== "" && { text }),
    ...(thinking !== "" && { thinking }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

function facts(usage: Usage, errors: readonly StreamingFailure[]): StreamingResult {
  return {
    ...(Object.keys(usage).length > 0 && { usage }),
    ...(errors.length > 0 && { errors: errors.map(({ message, code }) => ({ message, code })) }),
  };
}
