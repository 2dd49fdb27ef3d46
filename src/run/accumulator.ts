import {
  addUsage,
  type AgentEvent,
  createShownText,
  type DeltaEvent,
  type ErrorDetail,
  type ErrorItem,
  isDelta,
  type Message,
  type MessageItem,
  type PermissionItem,
  present,
  type ResultItem,
  type RunResult,
  type RunStatus,
  textOf,
  type ToolCallRecord,
  type ToolResultBlock,
  unreachable,
  type Usage,
  type WarningDetail,
} from "#domain";

/** The data of the notice in which a nested agent reports its verdict. The run's totals include what the agent used. */
export interface AgentResultNotice {
  readonly subtype: string;
  readonly isError: boolean;
  readonly text?: string;
  readonly usage: Usage;
  readonly costUsd?: number;
  readonly turns?: number;
}

/** The facts about the end of a run that its events do not contain. */
export interface Ending {
  readonly ms: number;
  /** Set if the run was aborted, interrupted or parked. Otherwise the status follows from the events. */
  readonly status?: "aborted" | "interrupted" | "waiting";
  readonly reason?: string;
}

/**
 * Builds the result of a run from its events. Items are authoritative; deltas are used only for messages that were
 * never finished.
 */
export interface Accumulator {
  /**
   * Adds the next event. For a delta, only the message id is recorded: there are many deltas, and their text is hardly
   * ever needed.
   */
  add(event: AgentEvent): void;
  /** Records a delta by its message id alone. Unlike `add`, it does not look at the delta's `agent`. */
  noteDelta(messageId: string): void;
  /** Whether a `result` item was added and no `start` item or assistant message has followed it. */
  readonly isSettled: boolean;
  readonly sessionId: string | undefined;
  /** Returns the result. `log` contains every event that was added, including deltas, possibly merged. */
  result(ending: Ending, log: Iterable<AgentEvent>): RunResult;
}

/**
 * Creates an accumulator for one run. `history` is the conversation before the run.
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
  /** Usage of the messages since the last verdict. A verdict's own usage covers the messages before it. */
  private _unsettledUsage: Usage = {};
  private _costUsd: number | undefined;
  private _turns = 0;
  private _unsettledTurns = 0;
  private _model: string | undefined;
  private _sessionId: string | undefined;
  private _agent: string | undefined;
  /** The message of the latest delta, if that message is not finished yet. */
  private _openId: string | undefined;
  /**
   * Whether deltas of several messages were interleaved. If so, `result` reads the log to find the unfinished messages.
   */
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
    const error = errorOf(status, ending, terminal, verdict);
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
      ...present({ model: this._model, sessionId: this._sessionId, agent: this._agent, error }),
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
    // A message that was reported before it was finished is reported again. It is one turn, and its usage counts once.
    if (before === undefined) this._unsettledTurns += 1;
    if (event.usage === undefined || before?.usage !== undefined) return;
    this._unsettledUsage = addUsage(this._unsettledUsage, event.usage);
  }

  /** A permission can replace the arguments the model asked for. The tool then ran with the replacement. */
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

  /** Adds what a nested agent used during a tool call. The run's own verdict does not include it. */
  private _addNested(data: unknown): void {
    const { usage, costUsd } = data as AgentResultNotice;
    this._usage = addUsage(this._usage, usage);
    if (costUsd !== undefined) this._costUsd = (this._costUsd ?? 0) + costUsd;
  }

  /** Adds the usage of a discarded reply, which is billed as well. The usage of the next verdict includes it. */
  private _addSpent(data: unknown): void {
    this._unsettledUsage = addUsage(this._unsettledUsage, (data as { readonly usage: Usage }).usage);
  }
}

function statusOf(ending: Ending, terminal: ErrorDetail | undefined, verdict: ResultItem | undefined): RunStatus {
  if (ending.status !== undefined) return ending.status;
  return terminal !== undefined || verdict === undefined || verdict.isError ? "error" : "success";
}

function errorOf(
  status: RunStatus,
  ending: Ending,
  terminal: ErrorDetail | undefined,
  verdict: ResultItem | undefined,
): ErrorDetail | undefined {
  if (status === "success" || status === "waiting") return undefined;
  if (terminal !== undefined) return terminal;
  if (status !== "error") {
    return { code: "aborted", message: ending.reason ?? `The run was ${status}.`, terminal: true };
  }
  return { code: "failed-result", message: describeVerdict(verdict), terminal: false };
}

function describeVerdict(verdict: ResultItem | undefined): string {
  if (verdict === undefined) return "The run ended with no result.";
  if (verdict.message !== undefined) return verdict.message;
  const text = verdict.text ?? "";
  return text === "" ? `The run ended with ${verdict.subtype}.` : `The run ended with ${verdict.subtype}: ${text}`;
}

/**
 * Returns the text of the last assistant message. Without such a message, for example after a built-in command of the
 * agent, returns the text of a successful verdict.
 */
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
    ...present({ source, stopReason, usage, model }),
  };
}

function asWarning(event: WarningDetail): WarningDetail {
  const { code, message, context, expected } = event;
  return { code, message, ...present({ context, expected }) };
}

function asError(event: ErrorItem): ErrorDetail {
  const { code, message, terminal, diagnostic } = event;
  return { code, message, terminal, ...(diagnostic !== undefined && { diagnostic }) };
}

/**
 * Returns the messages of a run in the form that models accept: each assistant message with tool calls is followed by
 * one user message with the results of exactly those calls, in the order of the calls.
 */
function buildTranscript(messages: readonly Message[], calls: ReadonlyMap<string, ToolCallRecord>): readonly Message[] {
  const transcript: Message[] = [];
  for (const message of messages) {
    transcript.push(message);
    const results: ToolResultBlock[] = [];
    for (const block of message.blocks) {
      if (block.type !== "tool-call") continue;
      const call = calls.get(block.callId);
      if (call?.isError === undefined) continue;
      results.push({ type: "tool-result", callId: block.callId, output: call.output, isError: call.isError });
    }
    if (results.length > 0) transcript.push({ id: `${message.id}-results`, role: "user", blocks: results });
  }
  return transcript;
}

/**
 * Returns the messages of the main conversation that were begun by deltas and never finished: their text and thinking
 * as far as they arrived, and never half a tool call.
 */
function findUnfinished(log: Iterable<AgentEvent>): readonly Message[] {
  const shown = createShownText();
  for (const event of log) {
    if (event.type === "text-delta" || event.type === "thinking-delta" || event.type === "message") shown.read(event);
    else if (event.type === "notice") shown.retract(event);
  }
  return shown.unfinished();
}
