import {
  type AgentEvent,
  addUsage,
  type DeltaEvent,
  type ErrorDetail,
  type ErrorItem,
  isDelta,
  type Message,
  type MessageItem,
  type PermissionItem,
  type ResultItem,
  type RunResult,
  type RunStatus,
  textOf,
  type ToolCallRecord,
  type Usage,
  unreachable,
  type WarningDetail,
} from "#domain";
import { findUnfinished } from "./unfinished.ts";
import { buildTranscript } from "./transcript.ts";

/** The data of the notice with which a nested agent gives its verdict: what it used counts for the run. */
export interface AgentResultNotice {
  readonly subtype: string;
  readonly isError: boolean;
  readonly text?: string;
  readonly usage: Usage;
  readonly costUsd?: number;
  readonly turns?: number;
}

/** How a run ended, as far as its events do not say it. */
export interface Ending {
  readonly ms: number;
  /** Set when the run was aborted or interrupted. Without it the events decide. */
  readonly status?: "aborted" | "interrupted";
  readonly reason?: string;
}

/** Events to a result. Items are the truth; deltas count only for what was never finished. */
export interface Accumulator {
  /** Takes the next event. Of a delta only its message is noted: they are many, and hardly ever needed. */
  add(event: AgentEvent): void;
  /** `add`, for a delta whose other fields are of no concern. */
  noteDelta(messageId: string): void;
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
  return new RunAccumulator(history);
}

type OpenRecord = { -readonly [Key in keyof ToolCallRecord]: ToolCallRecord[Key] };

class RunAccumulator implements Accumulator {
  private readonly _history: readonly Message[];
  private readonly _messages = new Map<string, Message>();
  private readonly _calls = new Map<string, OpenRecord>();
  private readonly _errors: ErrorDetail[] = [];
  private readonly _warnings: WarningDetail[] = [];
  private _verdict: ResultItem | undefined;
  private _isSettled = false;
  private _structured: unknown;
  private _usage: Usage = {};
  /** Usage of messages since the last verdict: a verdict's own usage covers those before it. */
  private _unsettledUsage: Usage = {};
  private _costUsd: number | undefined;
  private _turns = 0;
  private _unsettledTurns = 0;
  private _model: string | undefined;
  private _sessionId: string | undefined;
  private _agent: string | undefined;
  /** The message whose deltas came last and which is not finished yet. */
  private _openId: string | undefined;
  /** Deltas of several messages came interleaved: which of them were finished is found out at the end. */
  private _isInterleaved = false;

  constructor(history: readonly Message[]) {
    this._history = history;
  }

  get isSettled(): boolean {
    return this._isSettled;
  }

  get sessionId(): string | undefined {
    return this._sessionId;
  }

  add(event: AgentEvent): void {
    if (event.agent !== undefined && event.parent === undefined) this._agent = event.agent;
    if (isDelta(event)) this.noteDelta(event.messageId);
    else this._addItem(event);
  }

  noteDelta(messageId: string): void {
    if (messageId === this._openId) return;
    if (this._openId !== undefined) this._isInterleaved = true;
    this._openId = messageId;
  }

  result(ending: Ending, log: Iterable<AgentEvent>): RunResult {
    const verdict = this._verdict;
    const terminal = this._errors.find((error) => error.terminal);
    const status = statusOf(ending, terminal, verdict);
    const error = whyNot(status, ending, terminal, verdict);
    const finished = [...this._messages.values()];
    if (this._openId !== undefined || this._isInterleaved) finished.push(...findUnfinished(log));
    const thinking = thinkingOf(finished);
    return {
      status,
      subtype: status === "success" || status === "error" ? (terminal?.code ?? verdict?.subtype ?? status) : status,
      text: finalText(finished, verdict),
      ...(thinking !== "" && { thinking }),
      ...(this._structured !== undefined && { structured: this._structured }),
      toolCalls: [...this._calls.values()],
      messages: [...this._history, ...buildTranscript(finished, this._calls)],
      usage: addUsage(this._usage, this._unsettledUsage),
      ...(this._costUsd !== undefined && { costUsd: this._costUsd }),
      turns: this._turns + this._unsettledTurns,
      ms: ending.ms,
      ...(this._model !== undefined && { model: this._model }),
      ...(this._sessionId !== undefined && { sessionId: this._sessionId }),
      ...(this._agent !== undefined && { agent: this._agent }),
      ...(error !== undefined && { error }),
      errors: this._errors,
      warnings: this._warnings,
    };
  }

  private _addItem(event: Exclude<AgentEvent, DeltaEvent>): void {
    switch (event.type) {
      case "start":
        this._isSettled = false;
        if (event.model !== undefined) this._model = event.model;
        if (event.sessionId !== undefined) this._sessionId = event.sessionId;
        return;
      case "message":
        return this._addMessage(event);
      case "tool-call":
        this._calls.set(event.callId, { callId: event.callId, name: event.name, input: event.input });
        return;
      case "tool-result": {
        const call = this._calls.get(event.callId);
        if (call === undefined) return;
        call.output = event.output;
        call.isError = event.isError;
        if (event.ms !== undefined) call.ms = event.ms;
        if (event.waitedMs !== undefined) call.waitedMs = event.waitedMs;
        return;
      }
      case "warning":
        this._warnings.push(asWarning(event));
        return;
      case "error":
        this._errors.push(asError(event));
        return;
      case "result":
        return this._addResult(event);
      case "notice":
        if (event.kind === "usage") this._addSpent(event.data);
        else if (event.kind === "agent-result" && event.parent !== undefined) this._addNested(event.data);
        return;
      case "permission":
        return this._addPermission(event);
      case "handoff":
      case "done":
        return;
      default:
        return unreachable(event);
    }
  }

  private _addMessage(event: MessageItem): void {
    if (event.id === this._openId) this._openId = undefined;
    if (event.parent !== undefined) return;
    const before = this._messages.get(event.id);
    this._messages.set(event.id, asMessage(event));
    if (event.role !== "assistant") return;
    this._isSettled = false;
    if (event.model !== undefined) this._model = event.model;
    // A message that was told before its end comes again: it is one turn, and its counts count once.
    if (before === undefined) this._unsettledTurns += 1;
    if (event.usage === undefined || before?.usage !== undefined) return;
    this._unsettledUsage = addUsage(this._unsettledUsage, event.usage);
  }

  /** Somebody allowed other arguments than the model's: those are what ran. */
  private _addPermission({ callId, state, input }: PermissionItem): void {
    const call = this._calls.get(callId);
    if (call === undefined || state !== "allowed" || input === undefined) return;
    call.requestedInput ??= call.input;
    call.input = input;
  }

  private _addResult(event: ResultItem): void {
    this._verdict = event;
    this._isSettled = true;
    this._usage = addUsage(this._usage, event.usage);
    this._unsettledUsage = {};
    if (event.costUsd !== undefined) this._costUsd = (this._costUsd ?? 0) + event.costUsd;
    this._turns += event.turns ?? this._unsettledTurns;
    this._unsettledTurns = 0;
    if (event.structured !== undefined) this._structured = event.structured;
    if (event.sessionId !== undefined) this._sessionId = event.sessionId;
  }

  /** What an agent used within a tool call; no verdict of the run's own covers it. */
  private _addNested(data: unknown): void {
    const { usage, costUsd } = data as AgentResultNotice;
    this._usage = addUsage(this._usage, usage);
    if (costUsd !== undefined) this._costUsd = (this._costUsd ?? 0) + costUsd;
  }

  /** A reply that came to nothing was paid for all the same; the next verdict's usage covers it. */
  private _addSpent(data: unknown): void {
    this._unsettledUsage = addUsage(this._unsettledUsage, (data as { readonly usage: Usage }).usage);
  }
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
  return { code: "failed-result", message: describeVerdict(verdict), terminal: false };
}

function describeVerdict(verdict: ResultItem | undefined): string {
  if (verdict === undefined) return "The run ended with no result.";
  if (verdict.message !== undefined) return verdict.message;
  const said = verdict.text ?? "";
  return said === "" ? `The run ended with ${verdict.subtype}.` : `The run ended with ${verdict.subtype}: ${said}`;
}

/** The text of the last assistant message. A verdict without any message, as of a command of the agent, has its own. */
function finalText(messages: readonly Message[], verdict: ResultItem | undefined): string {
  const last = messages.findLast((message) => message.role === "assistant");
  if (last !== undefined) return textOf(last.blocks);
  return verdict === undefined || verdict.isError ? "" : (verdict.text ?? "");
}

function thinkingOf(messages: readonly Message[]): string {
  return messages
    .map(({ role, blocks }) =>
      role === "assistant" ? blocks.map((block) => (block.type === "thinking" ? block.text : "")).join("") : "",
    )
    .filter((thinking) => thinking !== "")
    .join("\n\n");
}

function asMessage(event: MessageItem): Message {
  const { id, role, blocks, source, stopReason, usage, model } = event;
  return {
    id,
    role,
    blocks,
    ...(source !== undefined && { source }),
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
