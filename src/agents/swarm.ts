import {
  type Chunk,
  type Clock,
  elapsedSince,
  errorItem,
  handoffItem,
  type Message,
  messageItem,
  type NextTurn,
  noticeItem,
  present,
  type Random,
  resultItem,
  retractNotice,
  type RunStatus,
  StartError,
  toolResultItem,
} from "#domain";
import type { PathLookup, PermissionRules, RunPolicy } from "#policy";
import { runAgentLeg } from "./agent-leg.ts";
import { createShortConversations } from "./agent-settings.ts";
import { Budget, type RunLimits } from "./budget.ts";
import { describeEnd } from "./end-message.ts";
import { INCOMPLETE, pastHandoff } from "./past-calls.ts";
import type { PastLeg, PastRun } from "./past-run.ts";
import { pastTranscript } from "./transcript.ts";
import type { AgentLeg, Conversations, KeptFiles, Leg, LegEnd, LegWork, ModelLeg, Price } from "./leg.ts";
import { createLegPolicy, inheritRules } from "./leg-policy.ts";
import { warnOfIgnored, warnOfRules } from "./leg-warning.ts";
import { type AgentResultNotice, mayTakeEffect, type RunSource, type RunWriter, writeInTurns } from "#run";
import { createAbortController } from "#streams";
import { runModelLeg } from "./runner.ts";
import { UniqueIds } from "./unique-ids.ts";

/** Everything a run needs besides its input: agents, limits, seams. */
export interface RunPlan {
  /** The agents, found by name. A single agent may have no name. */
  readonly legs: readonly Leg[];
  /** The name of the agent that starts. Default: the first one. */
  readonly start?: string | undefined;
  readonly context: unknown;
  readonly limits: RunLimits;
  /**
   * What the next agent of a handoff receives: only the message (`fresh`, the default), or the whole transcript too
   * (`shared`).
   */
  readonly handoffContext?: "fresh" | "shared" | undefined;
  readonly clock: Clock;
  readonly nextTurn?: NextTurn | undefined;
  readonly random: Random;
  readonly price: Price;
  /** Resolves the paths in permission rules and tool calls. */
  readonly paths?: PathLookup | undefined;
  /** Keeps conversations of agents open after this run. By default, each is closed at the end of its leg. */
  readonly conversations?: Conversations | undefined;
  /** Where files of agents are kept while the run waits. */
  readonly files?: KeptFiles | undefined;
  /** Returns the plan of an agent that a tool call runs. */
  readonly planNested?: ((agent: unknown) => RunPlan) | undefined;
  /** The run that this run is a tool call of. */
  readonly outer?: {
    readonly budget: Budget;
    readonly ids: UniqueIds;
    readonly depth: number;
    readonly inherited: PermissionRules | undefined;
  };
}

/**
 * Carries out a run: one leg after the other, following the handoffs between agents. Every leg writes its own `result`;
 * the run is done when the last leg is (S2-24, S2-31). The last message is the one to answer.
 */
export function createRunSource(plan: RunPlan, messages: readonly Message[], past?: PastRun): RunSource {
  return async (writer) => {
    const run = new SwarmRun(plan, writer, past);
    try {
      await (past === undefined ? run.carryOut(messages) : run.resume(messages, past));
    } finally {
      run.release();
      await run.waitForNested();
    }
  };
}

/** What a leg passes to the next one. */
type HandoffEnd = Omit<Extract<LegEnd, { kind: "handoff" }>, "kind" | "turns">;

/** How a leg handed over whose handoff is not in the log yet. */
function handoffOf(past: PastLeg, leg: Leg): { readonly to: string; readonly message: string } {
  const handoff = pastHandoff(past, leg);
  if (handoff !== undefined) return handoff;
  throw new StartError("unknown-agent", "The handoff in the log cannot be repeated: its agent is not there any more.");
}

class SwarmRun {
  private readonly _plan: RunPlan;
  private readonly _writer: RunWriter;
  private readonly _budget: Budget;
  private readonly _ids: UniqueIds;
  private readonly _nested = new Set<Promise<void>>();
  private _conversations: Conversations | undefined;
  private readonly _stopClock: () => void;
  /** The restrictions inherited from earlier agents. */
  private _inherited: PermissionRules | undefined;
  private readonly _warned = new Set<Leg>();
  private _isExpired = false;

  constructor(plan: RunPlan, writer: RunWriter, past?: PastRun) {
    this._plan = plan;
    this._budget = new Budget(plan.limits, plan.outer?.budget);
    this._ids = plan.outer?.ids ?? new UniqueIds();
    this._inherited = plan.outer?.inherited;
    this._conversations = plan.conversations;
    if (past !== undefined) this._ids.reserve(past);
    const timed = this._limitTime(writer, past?.activeMs ?? 0);
    this._writer = timed.writer;
    this._stopClock = timed.stop;
  }

  release(): void {
    this._stopClock();
  }

  /** Waits for nested agents: a cancelled tool call may leave an agent that is still being stopped. */
  async waitForNested(): Promise<void> {
    await Promise.allSettled(this._nested);
  }

  /**
   * Adds the time limit of the run to the writer. When the time is up, the leg ends as after an abort, but the run can
   * still write its verdict.
   */
  private _limitTime(writer: RunWriter, spentMs: number): { readonly writer: RunWriter; readonly stop: () => void } {
    const { clock, limits } = this._plan;
    if (limits.timeoutMs === undefined) return { writer, stop: () => undefined };
    const controller = createAbortController(writer.signal);
    const stop = clock.after(Math.max(0, limits.timeoutMs - spentMs), () => {
      this._isExpired = true;
      controller.abort(new DOMException("The run's time is up.", "TimeoutError"));
    });
    return { writer: { ...writer, signal: controller.signal }, stop };
  }

  async carryOut(input: readonly Message[], past?: PastLeg): Promise<void> {
    const leg = this._firstLeg();
    const policy = this._policyFor(leg);
    await this._warn(leg, warnOfRules(leg, this._plan.legs));
    const prompt = await policy.checkPrompt(input);
    if (this._isAborted()) return;
    if (prompt.kind === "blocked") return this._block(leg, prompt.reason, prompt.by);
    await this._carryOn(leg, policy, prompt.messages, past);
  }

  /** Continues a run from its log. `input` is what it was started with. */
  async resume(input: readonly Message[], past: PastRun): Promise<void> {
    const last = past.legs.at(-1) as PastLeg;
    await this._takeUp(past);
    const passed = past.legs.slice(0, -1);
    for (const { agent } of passed) {
      const leg = this._legOf(agent ?? this._plan.start ?? this._plan.legs[0]?.agent);
      this._inherited = inheritRules(this._inherited, leg);
    }
    if (past.isEnded) return;
    if (passed.length === 0 && last.input === undefined) return this.carryOut(input, last);
    const leg = passed.length === 0 ? this._firstLeg() : this._legOf(last.agent);
    const policy = this._policyFor(leg);
    const before = [...input.slice(0, -1), ...passed.flatMap((one) => pastTranscript(one))];
    if (last.verdict !== undefined) {
      const transcript = [...before, ...pastTranscript(last)];
      return this._handOver(leg, policy, { ...handoffOf(last, leg), text: last.verdict.text ?? "", transcript });
    }
    if (last.input === undefined) {
      const message = passed.at(-1)?.handoff?.message ?? "";
      return this._carryOn(leg, policy, this._messagesAfter({ message, transcript: before }, []), last);
    }
    const isFresh = passed.length > 0 && this._plan.handoffContext !== "shared";
    await this._carryOn(leg, policy, [...(isFresh ? [] : before), last.input], last);
  }

  /** Says that the run goes on, takes back what was never finished, and counts what was used. */
  private async _takeUp(past: PastRun): Promise<void> {
    const open = past.nestedCalls.map(({ callId, name, parent }) => ({
      ...toolResultItem({ callId, name, output: INCOMPLETE, isError: true, skipped: "incomplete" }),
      parent,
    }));
    const retractions = past.unfinished.map(({ messageId, parent }) => ({
      ...retractNotice({ messageId }),
      ...(parent !== undefined && { parent }),
    }));
    const ended = past.nestedAgents.map(({ parent, usage, turns }) => {
      const data: AgentResultNotice = { subtype: "interrupted", isError: true, usage, turns };
      return noticeItem("agent-result", data, { parent });
    });
    await this._writer.write([noticeItem("resumed", { after: past.lastSeq }), ...retractions, ...open, ...ended]);
    for (const { usage, turns } of past.nestedAgents) if (turns > 0) this._budget.addSpent(usage, undefined);
    for (const { usage, costUsd } of past.nestedUsage) this._budget.addSpent(usage, costUsd);
    for (const { verdict } of past.legs)
      if (verdict !== undefined) this._budget.addSpent(verdict.usage, verdict.costUsd);
    for (let count = 1; count < past.legs.length; count += 1) this._budget.addHandoff();
  }

  /** One leg after the other, until one does not hand over. `past`: how far an earlier process came with the first. */
  private async _carryOn(leg: Leg, policy: RunPolicy, messages: readonly Message[], past?: PastLeg): Promise<void> {
    // Once per leg, however often it is handed to.
    if (past?.isStarted !== true && !this._warned.has(leg)) {
      this._warned.add(leg);
      await this._warn(leg, warnOfIgnored(leg));
    }
    const startedAt = this._plan.clock.now();
    const end = await this._runLeg(leg, policy, messages, startedAt, past);
    if (end.kind !== "handoff") return this._end(policy, end);
    await this._handOver(leg, policy, end);
  }

  private async _handOver(leg: Leg, policy: RunPolicy, end: HandoffEnd): Promise<void> {
    const limit = this._budget.addHandoff();
    if (limit !== undefined) {
      const message = describeEnd(limit, { run: this._plan.limits, leg: leg.limits });
      await this._writeVerdict(leg, { subtype: limit, text: end.text, message });
      return policy.noteEnd("error", end.text);
    }
    const handoff = { from: leg.agent ?? "", to: end.to, message: end.message };
    await this._writer.write([handoffItem(handoff)], leg.agent);
    const isStored = mayTakeEffect(this._writer);
    if (isStored !== true && !(await isStored)) return;
    const { notes, stop } = await policy.noteHandoff(handoff);
    if (stop !== undefined) {
      const message = describeEnd("hook_stopped", { run: this._plan.limits, leg: leg.limits, detail: stop });
      await this._writeVerdict(leg, { subtype: "hook_stopped", text: end.text, message });
      return policy.noteEnd("error", end.text);
    }
    this._inherited = inheritRules(this._inherited, leg);
    const next = this._legOf(end.to);
    await this._carryOn(next, this._policyFor(next), this._messagesAfter(end, notes));
  }

  private _firstLeg(): Leg {
    return this._legOf(this._plan.start ?? this._plan.legs[0]?.agent);
  }

  private _runLeg(
    leg: Leg,
    policy: RunPolicy,
    messages: readonly Message[],
    startedAt: number,
    past: PastLeg | undefined,
  ): Promise<LegEnd> {
    const { context, clock, nextTurn, random, price } = this._plan;
    const work: LegWork = {
      writer: this._writer,
      messages,
      context,
      clock,
      nextTurn,
      random,
      price,
      policy,
      budget: this._budget,
      ids: this._ids,
      files: this._plan.files,
      depth: this._plan.outer?.depth,
      inherited: this._inherited,
      nested: this._nested,
      planNested: this._plan.planNested,
    };
    const showInput = async (): Promise<void> => {
      const input = messages.at(-1);
      if (input === undefined) return;
      const { id, blocks, source } = input;
      const shown = messageItem({ id, role: "user", blocks, ...(source !== undefined && { source }) });
      await this._writer.write([shown], leg.agent);
    };
    return leg.backend.kind === "agent"
      ? this._runAgentLeg(leg as AgentLeg, { ...work, past }, showInput, startedAt)
      : this._runModelLeg(leg as ModelLeg, { ...work, past }, showInput, startedAt);
  }

  private async _runAgentLeg(
    leg: AgentLeg,
    work: LegWork,
    showInput: () => Promise<void>,
    startedAt: number,
  ): Promise<LegEnd> {
    this._conversations ??= createShortConversations(this._budget);
    const end = await runAgentLeg(leg, work, this._conversations, showInput);
    await this._noteTimeout(leg, end, startedAt);
    return end;
  }

  private async _runModelLeg(
    leg: ModelLeg,
    work: LegWork,
    showInput: () => Promise<void>,
    startedAt: number,
  ): Promise<LegEnd> {
    const { end, costs } = await runModelLeg(leg, work, showInput);
    const { usage, costUsd } = await costs.total();
    if (end.kind === "verdict" || end.kind === "handoff") {
      const ms = elapsedSince(this._plan.clock, startedAt);
      const structured = end.kind === "verdict" ? end.structured : undefined;
      const subtype = end.kind === "handoff" ? "handoff" : end.subtype;
      const message = end.kind === "handoff" ? undefined : end.message;
      const { text, turns } = end;
      await this._writeVerdict(leg, { subtype, text, message, usage, costUsd, turns, ms, structured });
    } else await this._noteTimeout(leg, end, startedAt, { usage, costUsd });
    return end;
  }

  /** Writes the verdict of a leg that ended because the run's time was up. Such a leg has none yet. */
  private async _noteTimeout(leg: Leg, end: LegEnd, startedAt: number, spent: Partial<Verdict> = {}): Promise<void> {
    if (end.kind !== "over" || !this._isExpired || this._isAborted()) return;
    const ms = elapsedSince(this._plan.clock, startedAt);
    const message = describeEnd("error_timeout", { run: this._plan.limits, leg: leg.limits });
    await this._writeVerdict(leg, { subtype: "error_timeout", text: end.text ?? "", message, ms, ...spent });
  }

  private async _writeVerdict(leg: Leg, verdict: Verdict): Promise<void> {
    const { subtype, text, message, usage = {}, costUsd, turns, ms, structured } = verdict;
    await writeInTurns(
      this._writer,
      [
        resultItem({
          subtype,
          isError: subtype !== "success" && subtype !== "handoff",
          text,
          ...(message !== undefined && { message }),
          usage,
          ...present({ structured, costUsd, turns, ms }),
        }),
      ],
      { agent: leg.agent, nextTurn: this._plan.nextTurn },
    );
  }

  private async _end(policy: RunPolicy, end: LegEnd): Promise<void> {
    // The end of a nested agent is not the end of the run.
    if (this._plan.outer !== undefined) return;
    const status: RunStatus = this._isAborted()
      ? "aborted"
      : end.kind === "judged" || (end.kind === "verdict" && end.subtype === "success")
        ? "success"
        : "error";
    await policy.noteEnd(status, end.kind === "verdict" ? end.text : "");
  }

  private async _warn(leg: Leg, warnings: readonly Chunk[]): Promise<void> {
    if (warnings.length > 0) await this._writer.write(warnings, leg.agent);
  }

  private _policyFor(leg: Leg): RunPolicy {
    return createLegPolicy(leg, this._inherited, { ...this._plan, writer: this._writer });
  }

  private async _block(leg: Leg, reason: string, by: "hook" | "guard"): Promise<void> {
    const code = by === "guard" ? "guard-denied" : "prompt-blocked";
    const message = `The prompt was not passed on: ${reason}`;
    await this._writer.write([errorItem({ code, message, terminal: true })], leg.agent);
  }

  private _messagesAfter(
    end: Pick<HandoffEnd, "message" | "transcript">,
    notes: readonly string[],
  ): readonly Message[] {
    const id = this._ids.create("handoff");
    const texts = [end.message, ...notes];
    const blocks = texts.map((text) => ({ type: "text", text }) as const);
    const message: Message = { id, role: "user", blocks, source: "millrace" };
    return this._plan.handoffContext === "shared" ? [...end.transcript, message] : [message];
  }

  /** Whether the run itself was aborted. Reaching the time limit is not an abort. */
  private _isAborted(): boolean {
    return this._writer.signal.aborted && !this._isExpired;
  }

  private _legOf(name: string | undefined): Leg {
    const leg = this._plan.legs.find((candidate) => candidate.agent === name);
    if (leg === undefined) throw new StartError("unknown-agent", `There is no agent "${name ?? ""}" in this run.`);
    return leg;
  }
}

interface Verdict {
  readonly subtype: string;
  readonly text: string;
  readonly message?: string | undefined;
  readonly usage?: Parameters<typeof resultItem>[0]["usage"];
  readonly costUsd?: number | undefined;
  readonly turns?: number | undefined;
  readonly ms?: number | undefined;
  readonly structured?: unknown;
}
