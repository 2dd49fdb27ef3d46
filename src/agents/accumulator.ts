import {
  type AgentEvent,
  addUsage,
  type Block,
  type DeltaEvent,
  type ErrorDetail,
  type ErrorItem,
  isDelta,
  type Message,
  type MessageItem,
  type ResultItem,
  type RunResult,
  type RunStatus,
  type ToolCallRecord,
  type Usage,
  unreachable,
  type WarningDetail,
} from "#domain";
import { findUnfinished } from "./unfinished.ts";
import { buildTranscript } from "./transcript.ts";

/** How a run ended, as far as its events do not say it. */
export interface Ending {
  readonly ms: number;
  /** Set when the run was aborted or interrupted. Without it the events decide. */
  readonly status?: "aborted" | "interrupted";
  readonly reason?: string;
}

/** Events to a result. Items are the truth; deltas count only for what was never finished. */
export interface Accumulator {
  /** Takes the next event. Deltas are left alone: they are many, and hardly ever needed. */
  add(event: AgentEvent): void;
  /** The run has come to a verdict of its own, and nothing has begun since. */
  readonly isSettled: boolean;
  readonly sessionId: string | undefined;
  /** The result. `log` is everything that was added, deltas included, perhaps merged. */
  result(ending: Ending, log: Iterable<AgentEvent>): RunResult;
}

/**
 * Creates an accumulator for one run. `history` is the conversation before it.
 *
 * @example
 * const accumulator = createAccumulator()
 * for (const event of events) accumulator.add(event)
 * accumulator.result({ ms: 12 }, events).text
 */
export function createAccumulator(history: readonly Message[] = []): Accumulator {
  const messages = new Map<string, Message>();
  const calls = new Map<string, { -readonly [Key in keyof ToolCallRecord]: ToolCallRecord[Key] }>();
  const errors: ErrorDetail[] = [];
  const warnings: WarningDetail[] = [];
  let verdict: ResultItem | undefined;
  let settled = false;
  let structured: unknown;
  let usage: Usage = {};
  /** Usage of messages since the last verdict: a verdict's own usage covers those before it. */
  let unsettledUsage: Usage = {};
  let costUsd: number | undefined;
  let turns = 0;
  let unsettledTurns = 0;
  let model: string | undefined;
  let sessionId: string | undefined;
  let agent: string | undefined;

  const addMessage = (event: MessageItem): void => {
    if (event.parent !== undefined) return;
    const isNew = !messages.has(event.id);
    messages.set(event.id, asMessage(event));
    if (event.role !== "assistant") return;
    settled = false;
    if (event.model !== undefined) model = event.model;
    if (!isNew) return;
    unsettledTurns += 1;
    if (event.usage !== undefined) unsettledUsage = addUsage(unsettledUsage, event.usage);
  };

  const addResult = (event: ResultItem): void => {
    verdict = event;
    settled = true;
    usage = addUsage(usage, event.usage);
    unsettledUsage = {};
    if (event.costUsd !== undefined) costUsd = (costUsd ?? 0) + event.costUsd;
    turns += event.turns ?? unsettledTurns;
    unsettledTurns = 0;
    if (event.structured !== undefined) structured = event.structured;
    if (event.sessionId !== undefined) sessionId = event.sessionId;
  };

  /** A reply that came to nothing was paid for all the same; the next verdict's usage covers it. */
  const addSpent = (data: unknown): void => {
    unsettledUsage = addUsage(unsettledUsage, (data as { readonly usage: Usage }).usage);
  };

  const addItem = (event: Exclude<AgentEvent, DeltaEvent>): void => {
    switch (event.type) {
      case "start":
        settled = false;
        if (event.model !== undefined) model = event.model;
        if (event.sessionId !== undefined) sessionId = event.sessionId;
        return;
      case "message":
        return addMessage(event);
      case "tool-call":
        calls.set(event.callId, { callId: event.callId, name: event.name, input: event.input });
        return;
      case "tool-result": {
        const call = calls.get(event.callId);
        if (call === undefined) return;
        call.output = event.output;
        call.isError = event.isError;
        return;
      }
      case "warning":
        warnings.push(asWarning(event));
        return;
      case "error":
        errors.push(asError(event));
        return;
      case "result":
        return addResult(event);
      case "notice":
        if (event.kind === "usage") addSpent(event.data);
        return;
      case "permission":
      case "handoff":
      case "done":
        return;
      default:
        return unreachable(event);
    }
  };

  return {
    get isSettled() {
      return settled;
    },
    get sessionId() {
      return sessionId;
    },
    add(event) {
      if (event.agent !== undefined) agent = event.agent;
      if (!isDelta(event)) addItem(event);
    },
    result(ending, log) {
      const terminal = errors.find((error) => error.terminal);
      const status = statusOf(ending, terminal, verdict);
      const error = whyNot(status, ending, terminal, verdict);
      const finished = [...messages.values(), ...findUnfinished(log)];
      const thinking = textOf(finished, "thinking");
      const toolCalls = [...calls.values()];
      return {
        status,
        subtype: status === "success" || status === "error" ? (terminal?.code ?? verdict?.subtype ?? status) : status,
        text: textOf(finished, "text"),
        ...(thinking !== "" && { thinking }),
        ...(structured !== undefined && { structured }),
        toolCalls,
        messages: [...history, ...buildTranscript(finished, calls)],
        usage: addUsage(usage, unsettledUsage),
        ...(costUsd !== undefined && { costUsd }),
        turns: turns + unsettledTurns,
        ms: ending.ms,
        ...(model !== undefined && { model }),
        ...(sessionId !== undefined && { sessionId }),
        ...(agent !== undefined && { agent }),
        ...(error !== undefined && { error }),
        errors,
        warnings,
      };
    },
  };
}

function statusOf(ending: Ending, terminal: ErrorDetail | undefined, verdict: ResultItem | undefined): RunStatus {
  if (ending.status !== undefined) return ending.status;
  return terminal !== undefined || verdict === undefined || verdict.isError ? "error" : "success";
}

function whyNot(
  status: RunStatus,
  ending: Ending,
  terminal: ErrorDetail | undefined,
  verdict: ResultItem | undefined,
): ErrorDetail | undefined {
  if (status === "success") return undefined;
  if (terminal !== undefined) return terminal;
  if (status !== "error") {
    return { code: "aborted", message: ending.reason ?? `The run was ${status}.`, terminal: true };
  }
  const said = verdict?.text === undefined || verdict.text === "" ? "" : `: ${verdict.text}`;
  return {
    code: "failed-result",
    message: `The run ended with ${verdict?.subtype ?? "no result"}${said}`,
    terminal: false,
  };
}

function textOf(messages: readonly Message[], type: "text" | "thinking"): string {
  const parts: string[] = [];
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.blocks) if (block.type === type) parts.push((block as Block & { text: string }).text);
  }
  return parts.join("");
}

function asMessage(event: MessageItem): Message {
  const { id, role, blocks, stopReason, usage, model } = event;
  return {
    id,
    role,
    blocks,
    ...(stopReason !== undefined && { stopReason }),
    ...(usage !== undefined && { usage }),
    ...(model !== undefined && { model }),
  };
}

function asWarning(event: WarningDetail): WarningDetail {
  const { code, message, context, expected } = event;
  return { code, message, ...(context !== undefined && { context }), ...(expected !== undefined && { expected }) };
}

function asError(event: ErrorItem): ErrorDetail {
  const { code, message, terminal, diagnostic } = event;
  return { code, message, terminal, ...(diagnostic !== undefined && { diagnostic }) };
}
