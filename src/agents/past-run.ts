import {
  addUsage,
  type AgentEvent,
  type HandoffItem,
  isDelta,
  type Message,
  type MessageItem,
  type PermissionItem,
  type ResultItem,
  type Retraction,
  type ToolCallItem,
  type ToolResultBlock,
  type ToolResultItem,
  type Usage,
} from "#domain";
import { ActiveTime } from "#run";
import type { ParkedCallNotice } from "./parked-call.ts";

/**
 * What is known of a call from the log alone. A stored `tool-call` means that the tool may have begun, because the call
 * is stored right before the tool starts. A call that only its message names cannot have begun.
 */
export interface PastCall {
  readonly callId: string;
  readonly name: string;
  /** The arguments with which it runs or ran: those of the permission, if it changed them. */
  input: unknown;
  state: "not-begun" | "begun" | "asked" | "denied" | "parked" | "answered";
  /** Whether the log says that it was allowed. */
  isAllowed?: boolean;
  /** Its arguments in the log have a masked secret, so it can no longer be run. */
  isMasked?: boolean;
  /** How a parked call goes on. */
  parked?: ParkedCallNotice | undefined;
  /** Why it was denied. */
  reason?: string | undefined;
  result?: ToolResultBlock | undefined;
}

/** One reply of a model, with what became of its calls. */
export interface PastReply {
  readonly message: MessageItem;
  readonly calls: readonly PastCall[];
  /** What Millrace told the model afterwards: notes of hooks, feedback. */
  readonly told: readonly Message[];
}

/** One leg of a run, as far as its log goes. */
export interface PastLeg {
  readonly agent: string | undefined;
  readonly isStarted: boolean;
  /** The agent backend's id of the conversation. */
  readonly sessionId: string | undefined;
  /** The message to answer, as it was shown. */
  readonly input: Message | undefined;
  readonly replies: readonly PastReply[];
  /** What discarded attempts used. */
  readonly discarded: readonly Usage[];
  readonly verdict: ResultItem | undefined;
  /** How it handed over. */
  readonly handoff: HandoffItem | undefined;
}

/** A run as far as its log goes: enough to continue it in another process. */
export interface PastRun {
  /** All legs in order. The last one is the one to continue; it has no `handoff`. */
  readonly legs: readonly PastLeg[];
  /** A terminal error or the final verdict is in the log: only the end is missing. */
  readonly isEnded: boolean;
  /** Messages of which only deltas are in the log, with the call they are nested in. */
  readonly unfinished: readonly { readonly messageId: string; readonly parent: string | undefined }[];
  /** Unanswered calls of agents that a tool call runs. */
  readonly nestedCalls: readonly { readonly callId: string; readonly name: string; readonly parent: string }[];
  /** Agents that a tool call was running, the innermost first, with what their finished replies used. */
  readonly nestedAgents: readonly { readonly parent: string; readonly usage: Usage; readonly turns: number }[];
  /** What nested agents used that had ended. */
  readonly nestedUsage: readonly { readonly usage: Usage; readonly costUsd?: number | undefined }[];
  /** Every id of a message or a call. */
  readonly messageIds: readonly string[];
  readonly callIds: readonly string[];
  /** How long the run was carried out, without the time between processes. */
  readonly activeMs: number;
  readonly lastSeq: number;
}

type Open<Type> = { -readonly [Key in keyof Type]: Type[Key] };

interface OpenLeg extends Omit<Open<PastLeg>, "replies"> {
  readonly replies: Map<string, OpenReply>;
}

interface OpenReply {
  message: MessageItem;
  readonly told: Message[];
}

/**
 * Reads a log from its beginning to wherever it ends.
 *
 * @example
 * const { legs, isEnded } = readPastRun(await store.read(runId))
 */
export function readPastRun(events: readonly AgentEvent[]): PastRun {
  const reader = new PastReader();
  for (const event of events) reader.add(event);
  return reader.past();
}

class PastReader {
  private readonly _legs: OpenLeg[] = [newLeg(undefined)];
  private readonly _calls = new Map<string, PastCall>();
  private readonly _masked = new Set<string>();
  private readonly _nestedCalls = new Map<string, { callId: string; name: string; parent: string }>();
  private readonly _nestedAgents = new Map<string, { usage: Usage; turns: number }>();
  private readonly _nestedUsage: { usage: Usage; costUsd?: number | undefined }[] = [];
  private readonly _unfinished = new Map<string, string | undefined>();
  private readonly _messageIds = new Set<string>();
  private readonly _callIds = new Set<string>();
  private _hasFailed = false;
  private readonly _time = new ActiveTime();
  private _lastSeq = -1;

  add(event: AgentEvent): void {
    this._time.add(event);
    this._lastSeq = event.seq;
    if (isDelta(event)) {
      this._unfinished.set(event.messageId, event.parent);
      this._messageIds.add(event.messageId);
      if (event.type === "tool-input-delta") this._callIds.add(event.callId);
    } else {
      // The call has a result, so the agent that it ran has ended, with a verdict or without.
      if (event.type === "tool-result") this._nestedAgents.delete(event.callId);
      if (event.parent === undefined) this._addItem(event);
      else this._addNested(event, event.parent);
    }
  }

  past(): PastRun {
    const legs = this._legs.map((leg) => this._closeLeg(leg));
    const { verdict } = legs.at(-1) as PastLeg;
    return {
      legs,
      isEnded: this._hasFailed || (verdict !== undefined && verdict.subtype !== "handoff"),
      unfinished: [...this._unfinished].map(([messageId, parent]) => ({ messageId, parent })),
      nestedCalls: [...this._nestedCalls.values()],
      nestedAgents: [...this._nestedAgents].map(([parent, agent]) => ({ parent, ...agent })).reverse(),
      nestedUsage: this._nestedUsage,
      messageIds: [...this._messageIds],
      callIds: [...this._callIds],
      activeMs: this._time.ms,
      lastSeq: this._lastSeq,
    };
  }

  private get _leg(): OpenLeg {
    return this._legs.at(-1) as OpenLeg;
  }

  private _addItem(event: AgentEvent): void {
    const leg = this._leg;
    switch (event.type) {
      case "start":
        leg.isStarted = true;
        leg.agent ??= event.agent;
        leg.sessionId = event.sessionId ?? leg.sessionId;
        return;
      case "message":
        return this._addMessage(event);
      case "tool-call":
        return this._addCall(event);
      case "permission":
        return this._addPermission(event);
      case "tool-result":
        return this._addResult(event);
      case "handoff":
        leg.handoff = event;
        this._legs.push(newLeg(event.to));
        return;
      case "result":
        leg.verdict = event;
        leg.sessionId = event.sessionId ?? leg.sessionId;
        return;
      case "error":
        this._hasFailed ||= event.terminal;
        return;
      case "notice":
        if (event.kind === "usage") leg.discarded = [...leg.discarded, (event.data as { usage: Usage }).usage];
        if (event.kind === "retract") this._retract(event.data as Retraction);
        if (event.kind === "call-parked") this._addParked(event.data as ParkedCallNotice);
        if (event.kind === "arguments-masked") this._masked.add((event.data as { readonly callId: string }).callId);
        return;
      default:
    }
  }

  private _addParked(parked: ParkedCallNotice): void {
    const call = this._calls.get(parked.callId);
    if (call === undefined) return;
    call.state = "parked";
    call.parked = parked;
  }

  private _addMessage(event: MessageItem): void {
    const leg = this._leg;
    this._messageIds.add(event.id);
    this._unfinished.delete(event.id);
    leg.agent ??= event.agent;
    if (event.role === "assistant") {
      for (const block of event.blocks) if (block.type === "tool-call") this._callIds.add(block.callId);
      const before = leg.replies.get(event.id);
      // A message that was reported before it was finished is reported again.
      if (before === undefined) leg.replies.set(event.id, { message: event, told: [] });
      else before.message = event;
      // Whatever comes after a verdict reopens the leg.
      leg.verdict = undefined;
      return;
    }
    const { id, role, blocks, source } = event;
    const message: Message = { id, role, blocks, ...(source !== undefined && { source }) };
    const last = [...leg.replies.values()].at(-1);
    if (last !== undefined) last.told.push(message);
    else leg.input ??= message;
  }

  private _addCall({ callId, name, input }: ToolCallItem): void {
    this._callIds.add(callId);
    this._calls.set(callId, { callId, name, input, state: "begun" });
  }

  private _addPermission({ callId, state, input, reason }: PermissionItem): void {
    const call = this._calls.get(callId);
    if (call === undefined || call.state === "answered") return;
    if (state === "allowed" && input !== undefined) call.input = input;
    call.state = state === "allowed" ? "begun" : state;
    call.isAllowed = state === "allowed";
    call.reason = reason;
  }

  private _addResult({ callId, output, isError }: ToolResultItem): void {
    const call = this._calls.get(callId);
    if (call === undefined) return;
    call.state = "answered";
    call.result = { type: "tool-result", callId, output, isError };
  }

  private _retract({ messageId, fromIndex = 0 }: Retraction): void {
    if (fromIndex === 0) this._unfinished.delete(messageId);
  }

  private _addNested(event: AgentEvent, parent: string): void {
    switch (event.type) {
      case "message":
        this._messageIds.add(event.id);
        this._unfinished.delete(event.id);
        this._addNestedReply(event, parent);
        return;
      case "tool-call":
        this._callIds.add(event.callId);
        this._nestedCalls.set(event.callId, { callId: event.callId, name: event.name, parent });
        return;
      case "tool-result":
        this._nestedCalls.delete(event.callId);
        return;
      case "notice":
        if (event.kind === "retract") this._retract(event.data as Retraction);
        if (event.kind === "agent-start") this._nestedAgents.set(parent, { usage: {}, turns: 0 });
        if (event.kind === "agent-result") {
          this._nestedAgents.delete(parent);
          const { usage, costUsd } = event.data as { readonly usage: Usage; readonly costUsd?: number };
          this._nestedUsage.push({ usage, costUsd });
        }
        return;
      default:
    }
  }

  private _addNestedReply({ role, usage = {} }: MessageItem, parent: string): void {
    const agent = this._nestedAgents.get(parent);
    if (agent === undefined || role !== "assistant") return;
    agent.usage = addUsage(agent.usage, usage);
    agent.turns += 1;
  }

  private _closeLeg({ replies, ...leg }: OpenLeg): PastLeg {
    return {
      ...leg,
      replies: [...replies.values()].map(({ message, told }) => ({ message, told, calls: this._callsOf(message) })),
    };
  }

  private _callsOf({ blocks }: MessageItem): readonly PastCall[] {
    return blocks.flatMap((block) => {
      if (block.type !== "tool-call") return [];
      const { callId, name, input } = block;
      const call = this._calls.get(callId) ?? { callId, name, input, state: "not-begun" as const };
      return [this._masked.has(callId) ? { ...call, isMasked: true } : call];
    });
  }
}

function newLeg(agent: string | undefined): OpenLeg {
  return {
    agent,
    isStarted: false,
    sessionId: undefined,
    input: undefined,
    replies: new Map(),
    discarded: [],
    verdict: undefined,
    handoff: undefined,
  };
}
