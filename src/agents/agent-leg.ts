import type { AgentConversation, AgentLink } from "#backends";
import {
  type ChunkOf,
  addUsage,
  type Chunk,
  errorItem,
  isDelta,
  type Message,
  type MessageItem,
  messageItem,
  present,
  type ResultItem,
  resultItem,
  startFailure,
  textOf,
  type Usage,
  type WarningCode,
} from "#domain";
import { mayTakeEffect, writeInTurns } from "#run";
import type { OutputGate, RunPolicy } from "#policy";
import { hasTokens, type LimitReached } from "./budget.ts";
import { CallTimes } from "./call-times.ts";
import { describeAgentEnd } from "./end-message.ts";
import { HANDOFF_TOOL } from "./handoff.ts";
import { AgentOutput } from "./agent-output.ts";
import { AgentTools } from "./agent-tools.ts";
import { continueAgentLeg, keepSession, NOTHING, restoreSession, type Spent } from "./agent-past.ts";
import type { AgentLeg, Conversations, LegEnd, LegWork } from "./leg.ts";
import { showOutput } from "./shown-output.ts";
import type { Renamer } from "./unique-ids.ts";

/**
 * Carries out one leg on an agent backend: the backend's own loop with our tools and our policy. The backend gives the
 * verdict.
 */
export async function runAgentLeg(
  planned: AgentLeg,
  given: LegWork,
  conversations: Conversations,
  showInput: () => Promise<void>,
): Promise<LegEnd> {
  const continued = await continueAgentLeg(planned, given);
  if (continued.kind !== "continued") return continued;
  const { leg, work, spent } = continued;
  await restoreSession(leg, work);
  let conversation: AgentConversation;
  try {
    conversation = await conversations.open(leg);
  } catch (error) {
    await work.writer.write([startFailure(error)], leg.agent);
    return { kind: "over" };
  }
  const agentRun = new AgentRun(leg, work, conversation, { showInput, spent });
  let end: LegEnd = { kind: "over" };
  try {
    await conversation.send(work.messages, agentRun.link());
    for (;;) {
      const again = await agentRun.settleOutput();
      if (again === undefined) {
        end = await agentRun.end();
        return end;
      }
      await conversation.send(again, agentRun.link());
    }
  } finally {
    const released = conversations.release(leg);
    // After a handoff, the previous agent must be gone before the next one starts. Otherwise the run need not wait for
    // it.
    if (end.kind === "handoff") await released;
    else work.writer.cleanUp(released.then(() => keepSession(leg, work, agentRun.sessionId)));
  }
}

class AgentRun {
  private readonly _leg: AgentLeg;
  private readonly _work: LegWork;
  private readonly _conversation: AgentConversation;
  private readonly _showInput: () => Promise<void>;
  private readonly _gate: OutputGate | undefined;
  private readonly _times: CallTimes;
  private readonly _tools: AgentTools;
  /** The backend's id of the conversation, once it was reported. */
  sessionId: string | undefined;
  private _isInputShown = false;
  private _isOver = false;
  private _isSuccess = false;
  private _text = "";
  /** The text of the latest assistant message. */
  private _finalText: string | undefined;
  private _turns = 0;
  /** What earlier processes used; the next verdict includes it. */
  private _spent: Spent;
  private _limit: LimitReached | undefined;
  /** The usage of the agent's messages so far. */
  private _used: Usage = {};
  /**
   * The text of the assistant messages, by id. A message reported before it was finished is reported again and replaces
   * the first version.
   */
  private readonly _said = new Map<string, Message>();
  /** Messages whose usage the budget already includes. */
  private readonly _counted = new Set<string>();
  private readonly _output: AgentOutput | undefined;
  /** Whether the agent has received the result of its handoff call. */
  private _isHandoffAnswered = false;
  /** The writes that are still passing the guards. They are chained to keep their order. */
  private _tail: Promise<void> = Promise.resolve();
  /**
   * The number of writes in `_tail`. While it is not 0, new chunks must be queued too, or they would overtake the
   * others.
   */
  private _waiting = 0;

  constructor(
    leg: AgentLeg,
    work: LegWork,
    conversation: AgentConversation,
    { showInput, spent }: { readonly showInput: () => Promise<void>; readonly spent: Spent },
  ) {
    this._leg = leg;
    this._work = work;
    this._conversation = conversation;
    this._showInput = showInput;
    this._spent = spent;
    this._gate = work.policy.isSilentOnOutput ? undefined : work.policy.createOutputGate();
    this._times = new CallTimes(work.clock);
    this._tools = new AgentTools(leg, work, this._times);
    this._isInputShown = work.past?.input !== undefined;
    this._output = leg.output && new AgentOutput(leg.output, leg.outputRepairs, work.nextTurn);
  }

  link(): AgentLink {
    const { writer, policy, ids } = this._work;
    // A CLI that is started again for a repair uses the same message ids as before.
    const names = ids.forReply();
    return {
      runId: writer.runId,
      signal: writer.signal,
      policy: this._afterOutput(policy, names),
      finalTools: this._leg.handoffs === undefined ? [] : [HANDOFF_TOOL],
      isLast: true,
      cleanUp: writer.cleanUp,
      write: (chunks) => this._write(names.renameAll(chunks)),
      runTool: async (call) => {
        await this._tail.catch(() => undefined);
        return this._tools.run({ ...call, callId: names.call(call.callId) }, (chunks) => this._write(chunks));
      },
    };
  }

  /**
   * Writes the verdict that was held back until the answer was validated. Returns `undefined` if the leg is over, or
   * the messages to send to the agent if the answer does not fit the schema.
   */
  async settleOutput(): Promise<readonly Message[] | undefined> {
    await this._tail;
    const { writer, budget, messages, ids, nextTurn } = this._work;
    if (this._output === undefined || writer.signal.aborted || this._isOver) return undefined;
    const settled = await this._output.settle(budget.reached);
    if (settled === undefined || writer.signal.aborted) return undefined;
    if (settled.kind === "repair") {
      const id = ids.create("repair");
      const said = this._said.size > 0 ? [...this._said.values()] : [settled.answer()];
      const blocks = [{ type: "text", text: settled.feedback }] as const;
      const feedback = { id, role: "user", blocks, source: "millrace" } as const;
      await writer.write([messageItem(feedback)], this._leg.agent);
      return [...messages, ...said, feedback];
    }
    this._isSuccess = !settled.result.isError;
    const { structured, ...rest } = settled.result;
    const { output } = this._leg;
    const isShown = settled.result.isError || output === undefined;
    const shown = isShown ? structured : await showOutput(structured, output, writer, nextTurn);
    const result = this._describe({ ...rest, ...(shown !== undefined && { structured: shown }) });
    await writeInTurns(writer, [result], { agent: this._leg.agent, nextTurn });
    return undefined;
  }

  async end(): Promise<LegEnd> {
    await this._tail;
    const { handoff } = this._tools;
    if (handoff !== undefined && !this._work.writer.signal.aborted) {
      const { to, message } = handoff;
      const transcript = [...this._work.messages, ...this._said.values()];
      return { kind: "handoff", to, message, text: this._text, turns: this._turns, transcript };
    }
    return this._isSuccess && !this._isOver ? { kind: "judged" } : { kind: "over", text: this._finalText };
  }

  /**
   * Returns the same policy, except that it decides about a call only after the pending output was written. Otherwise
   * its events could precede the call. The time of a decision is measured.
   */
  private _afterOutput(policy: RunPolicy, names: Renamer): RunPolicy {
    if (policy.isSilentOnTools) return policy;
    const decide: RunPolicy["checkCall"] = async (call) => {
      await this._tail.catch(() => undefined);
      if (call.executedBy === "millrace") await this._tools.announce(call, (chunks) => this._write(chunks));
      const verdict = await policy.checkCall(call);
      // The agent runs its own tools as soon as it has the answer.
      if (verdict.kind !== "run") return verdict;
      const isStored = mayTakeEffect(this._work.writer);
      if (isStored === true || (await isStored)) return verdict;
      const { notes, stop } = verdict;
      return { kind: "denied", by: verdict.by ?? "rule", reason: "The run has ended.", notes, stop };
    };
    const checkCall: RunPolicy["checkCall"] = (given) => {
      const call = { ...given, callId: names.call(given.callId) };
      return this._times.waiting(call.callId, decide(call));
    };
    const checkResult: RunPolicy["checkResult"] = (call, result) =>
      policy.checkResult({ ...call, callId: names.call(call.callId) }, result);
    return Object.assign(Object.create(policy) as RunPolicy, { checkCall, checkResult });
  }

  private _write(chunks: readonly Chunk[]): Promise<void> | undefined {
    const { writer, nextTurn } = this._work;
    const prepared = nextTurn && writer.prepare?.(chunks, nextTurn);
    const isReady = prepared === undefined && this._gate === undefined && this._isInputShown;
    if (isReady && this._waiting === 0) return this._pass(chunks);
    this._waiting += 1;
    this._tail = this._tail.then(async () => {
      try {
        await prepared;
        if (this._isOver) return;
        const passed = this._gate === undefined ? chunks : await this._gate.pass(chunks);
        await this._showAfterStart(passed);
        if (this._gate?.denial !== undefined) await this._deny(this._gate.denial);
      } finally {
        this._waiting -= 1;
      }
    });
    return this._tail;
  }

  /** Shows the input right after the agent's `start` item and before its output. */
  private async _showAfterStart(chunks: readonly Chunk[]): Promise<void> {
    const start = this._isInputShown ? -1 : chunks.findIndex((chunk) => chunk.type === "start");
    if (start === -1) return this._pass(chunks);
    await this._pass(chunks.slice(0, start + 1));
    this._isInputShown = true;
    await this._showInput();
    await this._pass(chunks.slice(start + 1));
  }

  private _pass(chunks: readonly Chunk[]): Promise<void> | undefined {
    const shown: Chunk[] = [];
    for (const chunk of chunks) {
      const seen = isDelta(chunk) ? chunk : this._show(this._atLimit(chunk));
      if (chunk.type === "result") shown.push(...this._work.budget.takeWarnings(this._leg.backend.name));
      if (seen !== undefined) shown.push(seen);
    }
    return this._work.writer.write(shown, this._leg.agent);
  }

  /** An agent that was interrupted at a limit may exit without a verdict. The limit is still what ended it. */
  private _atLimit(chunk: Chunk): Chunk {
    if (this._limit === undefined || chunk.type !== "error" || !chunk.terminal) return chunk;
    return resultItem({ subtype: this._limit, isError: true, usage: this._used });
  }

  /** Returns the chunk that readers see, or `undefined` for none. Records what the end of the leg depends on. */
  private _show(chunk: Chunk): Chunk | undefined {
    switch (chunk.type) {
      case "message":
        if (chunk.parent === undefined) this._lookAtMessage(chunk);
        return chunk;
      case "start":
        this.sessionId = chunk.sessionId ?? this.sessionId;
        return chunk;
      case "tool-call":
        return this._tools.announces(chunk.callId) ? chunk : undefined;
      case "warning":
        return isSaid(this._leg, chunk.context) || this._isOfLimit(chunk.code) ? undefined : chunk;
      case "tool-result":
        this._isHandoffAnswered ||= chunk.callId === this._tools.handoff?.callId;
        return this._times.complete(chunk);
      case "result": {
        const verdict = this._takeVerdict(chunk);
        return this._output?.hold(verdict) === true ? undefined : verdict;
      }
      default:
        return chunk;
    }
  }

  private _isOfLimit(code: WarningCode): boolean {
    return this._limit !== undefined && code === "clean-exit-no-result";
  }

  /** Counts the usage, and keeps the text for the agent that continues after a handoff. */
  private _lookAtMessage({ id, role, blocks, usage }: ChunkOf<MessageItem>): void {
    if (role !== "assistant") return;
    this._finalText = textOf(blocks);
    // After a handoff the agent may write a last message. If it calls further tools, it is interrupted, because it
    // might never end.
    if (this._isHandoffAnswered && blocks.some((block) => block.type === "tool-call")) {
      this._conversation.interrupt().catch(() => undefined);
    }
    const said = blocks.filter((block) => block.type === "text" && block.text !== "");
    if (said.length > 0) this._said.set(id, { id, role, blocks: said });
    if (usage === undefined || this._counted.has(id)) return;
    this._counted.add(id);
    const { budget } = this._work;
    budget.addSpent(usage, 0);
    this._used = addUsage(this._used, usage);
    if (this._limit !== undefined || budget.reached === undefined) return;
    this._limit = budget.reached;
    this._conversation.interrupt().catch(() => undefined);
  }

  /**
   * Returns the verdict that readers see. If the leg hands over or has reached one of our limits, the subtype says so
   * instead of the backend's.
   */
  private _takeVerdict(chunk: ChunkOf<ResultItem>): ChunkOf<ResultItem> {
    // The result of a CLI contains only the last block of its final message.
    const text = this._finalText ?? chunk.text;
    this._text = text ?? "";
    this._countVerdict(chunk);
    const { costUsd: _, ...rest } = chunk;
    const verdict = { ...rest, ...this._withSpent(chunk) };
    this._turns = verdict.turns ?? 0;
    this._isSuccess = this._limit === undefined && !chunk.isError;
    const subtype = this._tools.handoff !== undefined ? "handoff" : (this._limit ?? chunk.subtype);
    const isError = subtype === chunk.subtype ? chunk.isError : subtype !== "handoff";
    return this._describe({ ...verdict, ...present({ text }), subtype, isError });
  }

  /** What the leg used in all of its processes. The agent only knows about this one. */
  private _withSpent({ usage, turns, costUsd }: ChunkOf<ResultItem>): Pick<ResultItem, "usage" | "turns" | "costUsd"> {
    const spent = this._spent;
    this._spent = NOTHING;
    if (spent.turns === 0) return { usage, ...present({ turns, costUsd }) };
    const isKnown = costUsd !== undefined && spent.costUsd !== undefined;
    return {
      usage: addUsage(spent.usage, usage),
      ...(turns !== undefined && { turns: spent.turns + turns }),
      ...(isKnown && { costUsd: spent.costUsd + costUsd }),
    };
  }

  /** Some agents report what they used with every message, others at the end only, or not at all. */
  private _countVerdict({ usage, costUsd, isError }: ChunkOf<ResultItem>): void {
    const { budget } = this._work;
    const rest = hasTokens(this._used) ? {} : usage;
    const isSilent = !isError && !hasTokens(this._used) && !hasTokens(usage);
    budget.addSpent(rest, isError ? (costUsd ?? 0) : costUsd);
    if (isSilent) budget.addWithoutTokens();
  }

  /** Adds the reason to a verdict that is not a success: our own text for our limits, otherwise the agent's. */
  private _describe(chunk: ChunkOf<ResultItem>): ChunkOf<ResultItem> {
    if (!chunk.isError) return chunk;
    const { limits, maxTokens } = this._leg;
    const facts = { run: this._work.budget.decisiveLimits, leg: limits, maxTokens, detail: chunk.message };
    const message = describeAgentEnd(chunk.subtype, facts);
    return message === undefined ? chunk : { ...chunk, message };
  }

  private async _deny(denial: { readonly reason: string; readonly guard: string }): Promise<void> {
    this._isOver = true;
    const message = `The guard "${denial.guard}" denied the output: ${denial.reason}`;
    await this._work.writer.write([errorItem({ code: "guard-denied", message, terminal: true })], this._leg.agent);
    // What the agent still does is ignored; the run only waits for it to exit.
    this._conversation.interrupt().catch(() => undefined);
  }
}

/**
 * Whether a warning about this option was already written when the leg began. The backend uses its own, shorter name
 * for the option.
 */
function isSaid({ ignored = [] }: AgentLeg, context: unknown): boolean {
  const name = (context as { readonly option?: unknown } | undefined)?.option;
  return typeof name === "string" && ignored.some(({ option }) => option.endsWith(`.${name}`));
}
