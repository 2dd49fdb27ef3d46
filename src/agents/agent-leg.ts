import type { AgentConversation, AgentFeature, AgentLink, AgentSettings, ToolSpec } from "#backends";
import {
  addUsage,
  type Chunk,
  errorItem,
  type Message,
  type MessageItem,
  messageItem,
  type ResultItem,
  resultItem,
  startFailure,
  textOf,
  type Usage,
  type WarningCode,
} from "#domain";
import { concernsCalls, type OutputGate, type RunPolicy } from "#policy";
import { runTool, type Tool, ToolPlaces } from "#tools";
import type { LimitReached } from "./budget.ts";
import { CallTimes } from "./call-times.ts";
import { describeEnd } from "./end-message.ts";
import { HANDOFF_TOOL, handoffTool, readHandoff } from "./handoff.ts";
import { AgentOutput } from "./agent-output.ts";
import type { AgentLeg, Conversations, LegEnd, LegWork } from "./leg.ts";
import { showOutput } from "./shown-output.ts";
import { stateNotice } from "./state-notice.ts";
import { showSchema } from "./structured.ts";

/**
 * Carries out one leg on an agent backend: its own loop, our tools, our policy. The verdict is the backend's.
 */
export async function runAgentLeg(
  leg: AgentLeg,
  work: LegWork,
  conversations: Conversations,
  showInput: () => Promise<void>,
): Promise<LegEnd> {
  let conversation: AgentConversation;
  try {
    conversation = await conversations.open(leg);
  } catch (error) {
    await work.writer.write([startFailure(error)], leg.agent);
    return { kind: "over" };
  }
  const agentRun = new AgentRun(leg, work, conversation, showInput);
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
    // After a handoff nothing of the one who handed over may still be at work. At the end nobody waits for it.
    if (end.kind === "handoff") await released;
    else work.writer.cleanUp(released);
  }
}

/** What an agent backend is told about a leg before it begins. */
export function agentSettings(leg: AgentLeg, limits: { readonly costUsd?: number | undefined }): AgentSettings {
  const { place, policy } = leg;
  const tools = toolsOf(leg);
  const features: AgentFeature[] = [];
  if (tools.length > 0) features.push("tools");
  if (policy !== undefined) {
    if (policy.hooks.some((hooks) => Object.values(hooks).some((list) => list.length > 0))) features.push("hooks");
    if (policy.permission !== undefined) features.push("permission");
    if (policy.rules.some(concernsCalls)) features.push("permission-rules");
    if (policy.guards.length > 0) features.push("guards");
  }
  if (leg.output !== undefined) features.push("output");
  return {
    instructions: leg.instructions,
    tools,
    features,
    outputSchema: leg.output && showSchema(leg.output.jsonSchema).shown,
    turns: leg.limits.turns,
    idleMs: leg.limits.idleMs,
    costUsd: limits.costUsd,
    maxTokens: leg.maxTokens,
    thinkingTokens: leg.thinkingTokens,
    keepRaw: leg.keepRaw,
    attempts: leg.retry === false ? 1 : leg.retry?.attempts,
    fallbackModels: leg.fallbackModels,
    resume: place?.resume,
    cwd: place?.cwd,
    env: place?.env ?? {},
    strict: place?.strict ?? false,
  };
}

/** Our tools as the agent gets them, the one for handing over included. */
function toolsOf(leg: AgentLeg): readonly Tool[] {
  if (leg.handoffs === undefined || leg.handoffs.length === 0) return leg.tools;
  return [...leg.tools, asTool(handoffTool(leg.handoffs))];
}

/** A tool we answer ourselves: it is offered, and never run as one. */
function asTool(spec: ToolSpec): Tool {
  return {
    ...spec,
    timeoutMs: undefined,
    parse: async (input) => ({ fits: true, value: input }),
    run: () => "",
  };
}

class AgentRun {
  private readonly _leg: AgentLeg;
  private readonly _work: LegWork;
  private readonly _conversation: AgentConversation;
  private readonly _showInput: () => Promise<void>;
  private readonly _gate: OutputGate | undefined;
  private readonly _tools: ReadonlyMap<string, Tool>;
  private readonly _places: ToolPlaces;
  private readonly _times: CallTimes;
  private _isInputShown = false;
  private _isOver = false;
  private _isSuccess = false;
  private _text = "";
  /** The text of the last message so far. */
  private _finalText: string | undefined;
  private _turns = 0;
  private _limit: LimitReached | undefined;
  /** What its messages have used. */
  private _used: Usage = {};
  /** What was said, by message: one that was told before its end comes again, whole. */
  private readonly _said = new Map<string, Message>();
  /** Messages whose counts are in the budget. */
  private readonly _booked = new Set<string>();
  private readonly _output: AgentOutput | undefined;
  private _handoff: { readonly to: string; readonly message: string; readonly callId: string } | undefined;
  /** The agent knows that its part is done. */
  private _isHandoffTold = false;
  /** What is still on its way through the guards: order is kept. */
  private _tail: Promise<void> = Promise.resolve();
  /** How many writes stand in the tail: what comes meanwhile must not overtake them. */
  private _waiting = 0;

  constructor(leg: AgentLeg, work: LegWork, conversation: AgentConversation, showInput: () => Promise<void>) {
    this._leg = leg;
    this._work = work;
    this._conversation = conversation;
    this._showInput = showInput;
    this._gate = work.policy.isSilentOnOutput ? undefined : work.policy.createOutputGate();
    this._places = new ToolPlaces(leg.toolConcurrency);
    this._times = new CallTimes(work.clock);
    this._tools = new Map(leg.tools.map((tool) => [tool.name, tool]));
    this._output = leg.output && new AgentOutput(leg.output, leg.outputRepairs);
  }

  link(): AgentLink {
    const { writer, policy, ids } = this._work;
    // A command that is started again for a repair calls its messages as it did before.
    const names = ids.forReply();
    return {
      runId: writer.runId,
      signal: writer.latch.signal,
      policy: this._times.watch(this._behindOutput(policy)),
      finalTools: this._leg.handoffs === undefined ? [] : [HANDOFF_TOOL],
      isLast: true,
      cleanUp: writer.cleanUp,
      write: (chunks) => {
        for (const chunk of chunks) names.rename(chunk);
        return this._write(chunks);
      },
      runTool: (call) => this._runTool(call),
    };
  }

  /**
   * Gives the verdict that was held back until its answer is known to fit. `undefined`: the leg is over. Messages: the
   * answer does not fit, and this is what the agent is to be sent.
   */
  async settleOutput(): Promise<readonly Message[] | undefined> {
    await this._tail;
    const { writer, budget, messages, ids } = this._work;
    if (this._output === undefined || writer.latch.aborted || this._isOver) return undefined;
    const settled = await this._output.settle(budget.reached);
    if (settled === undefined || writer.latch.aborted) return undefined;
    if (settled.kind === "repair") {
      const id = ids.fresh("repair");
      const said = this._said.size > 0 ? [...this._said.values()] : [settled.answer];
      const blocks = [{ type: "text", text: settled.feedback }] as const;
      const feedback = { id, role: "user", blocks, source: "millrace" } as const;
      await writer.write([messageItem(feedback)], this._leg.agent);
      return [...messages, ...said, feedback];
    }
    this._isSuccess = !settled.result.isError;
    const { structured, ...rest } = settled.result;
    const shown = settled.result.isError ? structured : showOutput(structured, writer);
    await writer.write(
      [this._describe({ ...rest, ...(shown !== undefined && { structured: shown }) })],
      this._leg.agent,
    );
    return undefined;
  }

  async end(): Promise<LegEnd> {
    await this._tail;
    if (this._handoff !== undefined && !this._work.writer.latch.aborted) {
      const { to, message } = this._handoff;
      const transcript = [...this._work.messages, ...this._said.values()];
      return { kind: "handoff", to, message, text: this._text, turns: this._turns, transcript };
    }
    return this._isSuccess && !this._isOver ? { kind: "judged" } : { kind: "over", text: this._finalText };
  }

  /** The same policy; what it says about a call stands behind the call, which may still be on its way. */
  private _behindOutput(policy: RunPolicy): RunPolicy {
    if (policy.isSilentOnTools) return policy;
    const checkCall: RunPolicy["checkCall"] = async (call) => {
      await this._tail.catch(() => undefined);
      return policy.checkCall(call);
    };
    return Object.assign(Object.create(policy) as RunPolicy, { checkCall });
  }

  private _write(chunks: readonly Chunk[]): Promise<void> | undefined {
    if (this._gate === undefined && this._isInputShown && this._waiting === 0) return this._pass(chunks);
    this._waiting += 1;
    this._tail = this._tail.then(async () => {
      try {
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

  /** The agent says that it is at work, then comes what it was asked, then what it answers. */
  private async _showAfterStart(chunks: readonly Chunk[]): Promise<void> {
    const start = this._isInputShown ? -1 : chunks.findIndex((chunk) => chunk.type === "start");
    if (start === -1) return this._pass(chunks);
    await this._pass(chunks.slice(0, start + 1));
    this._isInputShown = true;
    await this._showInput();
    await this._pass(chunks.slice(start + 1));
  }

  private _pass(chunks: readonly Chunk[]): Promise<void> | undefined {
    const shown = chunks.map((chunk) => this._atLimit(chunk)).filter((chunk) => this._look(chunk));
    return this._work.writer.write(shown, this._leg.agent);
  }

  /** An agent that was interrupted at a limit may go without a verdict. What ended it is the limit all the same. */
  private _atLimit(chunk: Chunk): Chunk {
    if (this._limit === undefined || chunk.type !== "error" || !chunk.terminal) return chunk;
    return resultItem({ subtype: this._limit, isError: true, usage: this._used });
  }

  /** Remembers what the leg's end depends on. */
  private _look(chunk: Chunk): boolean {
    if (chunk.type === "message" && chunk.parent === undefined) this._lookAtMessage(chunk);
    else if (chunk.type === "warning" && (isSaid(this._leg, chunk.context) || this._isOfLimit(chunk.code)))
      return false;
    else if (chunk.type === "tool-result") {
      this._times.complete(chunk);
      this._isHandoffTold ||= chunk.callId === this._handoff?.callId;
    } else if (chunk.type === "result") {
      this._lookAtResult(chunk);
      return this._output?.hold(chunk) !== true;
    }
    return true;
  }

  private _isOfLimit(code: WarningCode): boolean {
    return this._limit !== undefined && code === "clean-exit-no-result";
  }

  /** Counts what was used, and remembers what was said, for who goes on from here. */
  private _lookAtMessage({ id, role, blocks, usage }: MessageItem): void {
    if (role !== "assistant") return;
    this._finalText = textOf(blocks);
    // Told that its part is done, it may say a last word. One that calls on would never come to an end.
    if (this._isHandoffTold && blocks.some((block) => block.type === "tool-call")) {
      this._conversation.interrupt().catch(() => undefined);
    }
    const said = blocks.filter((block) => block.type === "text" && block.text !== "");
    if (said.length > 0) this._said.set(id, { id, role, blocks: said });
    if (usage === undefined || this._booked.has(id)) return;
    this._booked.add(id);
    const { budget } = this._work;
    budget.addSpent(usage, 0);
    this._used = addUsage(this._used, usage);
    if (this._limit !== undefined || budget.reached === undefined) return;
    this._limit = budget.reached;
    this._conversation.interrupt().catch(() => undefined);
  }

  /** The verdict of a leg that hands over, or that has reached a limit of ours, is ours to give. */
  private _lookAtResult(chunk: ResultItem): void {
    // A CLI repeats only the last block of its final message.
    if (this._finalText !== undefined && chunk.text !== this._finalText)
      Object.assign(chunk, { text: this._finalText });
    this._text = chunk.text ?? "";
    this._turns = chunk.turns ?? 0;
    this._work.budget.addSpent({}, chunk.costUsd ?? 0);
    const subtype = this._handoff !== undefined ? "handoff" : (this._limit ?? chunk.subtype);
    this._isSuccess = this._limit === undefined && !chunk.isError;
    if (subtype !== chunk.subtype) Object.assign(chunk, { subtype, isError: subtype !== "handoff" });
    this._describe(chunk);
  }

  /** Has a verdict say why it is no success: in our words for what is ours, else in the agent's. */
  private _describe(chunk: ResultItem): ResultItem {
    if (!chunk.isError) return chunk;
    const facts = { run: this._work.budget.limits, leg: this._leg.limits, detail: chunk.message };
    const message = describeEnd(chunk.subtype, facts);
    return message === undefined ? chunk : Object.assign(chunk, { message });
  }

  private async _deny(denial: { readonly reason: string; readonly guard: string }): Promise<void> {
    this._isOver = true;
    const message = `The guard "${denial.guard}" did not let the output pass: ${denial.reason}`;
    await this._work.writer.write([errorItem({ code: "guard-denied", message, terminal: true })], this._leg.agent);
    // What the agent still does is nobody's concern any more; the run waits for it to be gone.
    this._conversation.interrupt().catch(() => undefined);
  }

  private async _runTool(call: Parameters<AgentLink["runTool"]>[0]) {
    const { writer, clock, context } = this._work;
    await this._tail.catch(() => undefined);
    if (this._handoff !== undefined) {
      const output = `Not run: the conversation was handed over to ${this._handoff.to} before.`;
      return { kind: "failed", why: "aborted", output } as const;
    }
    if (call.name === HANDOFF_TOOL && this._leg.handoffs !== undefined) return this._handOver(call);
    const tool = this._tools.get(call.name);
    if (tool === undefined) {
      return { kind: "failed", why: "unknown-tool", output: `There is no tool "${call.name}".` } as const;
    }
    // The agent may give up on a single call, too.
    const signal = call.signal ?? writer.latch.signal;
    const leave = await this._times.waiting(call.callId, this._places.take(tool.sequential === true, signal));
    if (leave === undefined)
      return { kind: "failed", why: "aborted", output: "Not run: the call was taken back." } as const;
    const running = runTool(tool, call.input, {
      callId: call.callId,
      runId: writer.runId,
      agent: this._leg.agent,
      context,
      outer: { leg: this._leg, work: this._work },
      signal,
      clock,
      timeoutMs: this._leg.limits.toolMs,
      onProgress: (state) => void this._write([stateNotice(call, state)]),
    });
    return this._times.running(call.callId, running).finally(leave);
  }

  private async _handOver({ callId, input }: Parameters<AgentLink["runTool"]>[0]) {
    const wanted = readHandoff(input, this._leg.handoffs ?? []);
    if (!wanted.fits) return { kind: "failed", why: "invalid-input", output: wanted.problem } as const;
    const from = this._leg.agent ?? "";
    const verdict = await this._work.policy.checkHandoff({ from, to: wanted.to, message: wanted.message });
    if (verdict.kind === "blocked") return { kind: "failed", why: "thrown", output: verdict.reason } as const;
    this._handoff = { to: wanted.to, message: verdict.message, callId };
    return {
      kind: "returned",
      output: `Handed over to ${wanted.to}. Say nothing more: your part is done.`,
    } as const;
  }
}

/** Whether readers were warned of this option when the leg began: a backend knows it by its own, shorter name. */
function isSaid({ ignored = [] }: AgentLeg, context: unknown): boolean {
  const name = (context as { readonly option?: unknown } | undefined)?.option;
  return typeof name === "string" && ignored.some(({ option }) => option.endsWith(`.${name}`));
}

/** Conversations that last as long as their leg. */
export function createShortConversations(limits: Parameters<typeof agentSettings>[1]): Conversations {
  const open = new Map<AgentLeg, AgentConversation>();
  return {
    async open(leg) {
      const conversation = await leg.backend.open(agentSettings(leg, limits));
      open.set(leg, conversation);
      return conversation;
    },
    async release(leg) {
      const conversation = open.get(leg);
      open.delete(leg);
      await conversation?.close();
    },
  };
}
