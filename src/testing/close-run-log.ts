import {
  type AgentEvent,
  type Chunk,
  type ChunkOf,
  type DoneChunk,
  doneEvent,
  type ErrorItem,
  type MessageItem,
  numberEvent,
  type ResultItem,
  type RunResult,
  type ToolCallItem,
  type ToolResultItem,
  toolResultItem,
} from "#domain";
import { finalText } from "./run-log/verdict.ts";

/**
 * The log of a run that wrote exactly these chunks: numbered, unanswered tool calls closed as `incomplete`, `done` at
 * the end. Use it to check that a source follows the event model: `assertRunLog(closeRunLog(chunks))`.
 *
 * The chunks are neither corrected nor dropped, so a violation of the source stays visible.
 *
 * @example
 * const decoder = createDecoder(openAiChat)
 * assertRunLog(closeRunLog([...decoder.push(bytes), ...decoder.end()]))
 */
export function closeRunLog(chunks: readonly Chunk[], runId = "run-1"): AgentEvent[] {
  const events: AgentEvent[] = [];
  const open = new Map<string, ChunkOf<ToolCallItem>>();
  const append = (chunk: Chunk | DoneChunk): void => {
    events.push(numberEvent(chunk, events.length, { ts: events.length, runId }));
  };
  const answerOpenCalls = (): void => {
    for (const { callId, name } of open.values()) {
      append(toolResultItem({ callId, name, output: "No answer came.", isError: true, skipped: "incomplete" }));
    }
    open.clear();
  };
  for (const chunk of chunks) {
    if (chunk.type === "tool-call") open.set(chunk.callId, chunk);
    if (chunk.type === "tool-result") open.delete(chunk.callId);
    if (chunk.type === "error" && chunk.terminal) answerOpenCalls();
    append(chunk);
  }
  answerOpenCalls();
  append(doneEvent(summarise(events)));
  return events;
}

function summarise(events: readonly AgentEvent[]): RunResult {
  const messages = new Map<string, MessageItem>();
  const calls = new Map<string, ToolCallItem>();
  const answers = new Map<string, ToolResultItem>();
  const allowed = new Map<string, unknown>();
  const errors: ErrorItem[] = [];
  let verdict: ResultItem | undefined;
  for (const event of events) {
    if (event.type === "message") messages.set(event.id, event);
    if (event.type === "tool-call") calls.set(event.callId, event);
    if (event.type === "tool-result") answers.set(event.callId, event);
    if (event.type === "permission" && event.state === "allowed" && event.input !== undefined) {
      allowed.set(event.callId, event.input);
    }
    if (event.type === "error") errors.push(event);
    if (event.type === "result") verdict = event;
  }
  const terminal = errors.find((error) => error.terminal);
  const failed = terminal !== undefined || verdict?.isError === true;
  return {
    status: failed ? "error" : "success",
    subtype: terminal?.code ?? verdict?.subtype ?? "success",
    text: finalText(messages.values()) ?? verdict?.text ?? "",
    toolCalls: [...calls.values()].map(({ callId, name, input }) => {
      const answer = answers.get(callId);
      const ran = allowed.has(callId) ? { input: allowed.get(callId), requestedInput: input } : { input };
      return { callId, name, ...ran, ...(answer && { output: answer.output, isError: answer.isError }) };
    }),
    messages: [...messages.values()].map(({ id, role, blocks }) => ({ id, role, blocks })),
    usage: verdict?.usage ?? {},
    turns: messages.size,
    ms: events.length,
    errors: errors.map(({ code, message, terminal: ends }) => ({ code, message, terminal: ends })),
    warnings: [],
  };
}
