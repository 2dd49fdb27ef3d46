import type { ModelBackend, ToolSpec } from "#backends";
import { type ChunkOf, type ErrorItem, errorItem, type Message, messageItem, stopFailure, textOf } from "#domain";
import { DEFAULT_TOOL_CONCURRENCY } from "#tools";
import { describeEnd } from "./end-message.ts";
import { handoffTool } from "./handoff.ts";
import { CostCounter } from "./cost-counter.ts";
import { LEG_LIMITS, type LegEnd, type LegWork, type ModelLeg } from "./leg.ts";
import { type AnswerPlan, planAnswer } from "./answer.ts";
import { hasTokens } from "./budget.ts";
import { showOutput } from "./shown-output.ts";
import { type BatchEnd, runBatch } from "./tool-batch.ts";
import { type PastCallSettings, settlePastCalls } from "./past-calls.ts";
import type { PastLeg, PastReply } from "./past-run.ts";
import { addNotes, asMessage, notesId, pastTranscript, writeTurn } from "./transcript.ts";
import { announce, askModel, type Reply, type TurnSettings } from "./turn.ts";

/** How a leg ended, and what it used. */
export interface ModelLegEnd {
  readonly end: LegEnd;
  readonly costs: CostCounter;
}

/**
 * Carries out one leg on a model backend: ask the model, run the tools, ask again, until the model calls no more tools,
 * hands over, or a limit is reached.
 */
export async function runModelLeg(leg: ModelLeg, work: LegWork, showInput: () => Promise<void>): Promise<ModelLegEnd> {
  const { past } = work;
  const costs = new CostCounter(work.price, work.budget);
  const runner = new Runner(leg, work, costs);
  if (past === undefined || !past.isStarted) await runner.announce();
  if (past?.input === undefined) await showInput();
  return { end: await (past === undefined ? runner.loop() : runner.resume(past)), costs };
}

interface Replied extends Extract<Reply, { kind: "replied" }> {
  /** What an earlier process did about the calls. */
  readonly past?: PastReply;
}

/** The loop of one leg. A class, because its steps share state. */
class Runner {
  private readonly _leg: ModelLeg;
  private readonly _work: LegWork;
  private readonly _costs: CostCounter;
  private readonly _answer: AnswerPlan;
  private readonly _specs: readonly ToolSpec[];
  private readonly _settings: TurnSettings;
  private readonly _transcript: Message[];
  private _turns = 0;
  private _text = "";
  private _sentBack = 0;
  private _repairs = 0;
  /** Whether the last reply contained a tool call that its host could not parse. */
  private _wasMalformed = false;

  constructor(leg: ModelLeg, work: LegWork, costs: CostCounter) {
    this._leg = leg;
    this._work = work;
    this._costs = costs;
    this._answer = planAnswer(leg, work.nextTurn);
    this._specs = specsOf(leg, this._answer);
    this._settings = turnSettings(leg, work, costs);
    this._transcript = [...work.messages];
  }

  announce(): Promise<void> {
    const request = this._request(1);
    return announce(this._leg.backend, request, this._work.writer, this._settings);
  }

  /** Continues after what an earlier process did. The input is the last message of the transcript. */
  async resume(past: PastLeg): Promise<LegEnd> {
    if (past.isStarted) this._settings.started.add(this._leg.backend);
    const { replies, discarded } = past;
    for (const usage of discarded) this._costs.add(usage, this._leg.backend);
    for (const { message } of replies) this._costs.add(message.usage ?? {}, backendOf(this._leg, message.model));
    this._turns = replies.length;
    this._countPast(past);
    const last = replies.at(-1);
    const isOpen = last !== undefined && !last.told.some(({ id }) => id === feedbackId(last.message));
    const finished = isOpen ? replies.slice(0, -1) : replies;
    const together = this._leg.parallelToolCalls !== false;
    this._transcript.push(...pastTranscript({ ...past, input: undefined, replies: finished }, together));
    await this._costs.settle();
    if (!isOpen) return this.loop();
    return (await this._takeStep(takeUp(last, backendOf(this._leg, last.message.model)))) ?? this.loop();
  }

  /** Counts how often an earlier process has sent an answer back. */
  private _countPast({ replies }: PastLeg): void {
    for (const { message, calls, told } of replies) {
      this._text = textOf(message.blocks);
      const wasSentBack = told.some(({ id }) => id === feedbackId(message));
      this._wasMalformed = wasSentBack && message.stopReason === "malformed-call";
      const misfits = calls.filter(({ name, result }) => name === this._answer.tool?.name && result?.isError === true);
      if (misfits.length > 0 || (wasSentBack && this._leg.output !== undefined)) this._repairs += 1;
      else if (wasSentBack && !this._wasMalformed) this._sentBack += 1;
    }
  }

  async loop(): Promise<LegEnd> {
    const { writer } = this._work;
    for (;;) {
      this._turns += 1;
      const reply = await askModel(this._leg.backend, this._request(this._turns), writer, this._settings);
      if (reply.kind === "failed") await writer.write([reply.error], this._leg.agent);
      if (reply.kind !== "replied") return this._over();
      this._text = textOf(reply.message.blocks);
      await this._book(reply);
      const end = await this._takeStep(reply);
      if (end !== undefined) return end;
    }
  }

  /** Processes a reply and checks the limits. Returns the end of the leg, or `undefined` to ask again. */
  private async _takeStep(reply: Replied): Promise<LegEnd | undefined> {
    if (reply.message.stopReason !== "malformed-call") this._wasMalformed = false;
    const end = await this._takeReply(reply);
    if (end !== undefined) return end;
    const maxTurns = this._leg.limits.turns ?? LEG_LIMITS.turns;
    const reached = this._turns >= maxTurns ? "error_max_turns" : this._work.budget.reached;
    return reached === undefined ? undefined : this._verdict(reached, textOf(reply.message.blocks));
  }

  private async _book(reply: Replied): Promise<void> {
    const { budget, writer } = this._work;
    const { usage = {} } = reply.message;
    this._costs.add(usage, reply.backend);
    if (!hasTokens(usage)) budget.addWithoutTokens();
    if (!budget.isLimited) return;
    await this._costs.settle();
    const warnings = budget.takeWarnings(`${reply.backend.name}/${reply.backend.model}`);
    if (warnings.length > 0) await writer.write(warnings, this._leg.agent);
  }

  /** Processes a reply. Returns the end of the leg, or `undefined` to continue. */
  private async _takeReply(reply: Replied): Promise<LegEnd | undefined> {
    const text = textOf(reply.message.blocks);
    switch (endOf(reply)) {
      case "error":
        await this._work.writer.write([failureOf(reply)], this._leg.agent);
        return this._over();
      case "malformed-call":
        return this._repairCall(reply);
      case "error_max_tokens":
        return this._verdict("error_max_tokens", text, undefined, reply.message.vendorStopReason);
      case "success":
        return this._tryToStop(reply, text);
      default:
        return this._runCalls(reply, text);
    }
  }

  private async _runCalls(reply: Replied, text: string): Promise<LegEnd | undefined> {
    const leg = this._leg;
    const earlier = reply.past && (await settlePastCalls(reply.past, this._work.writer, this._pastSettings()));
    const batch = await runBatch(earlier?.left ?? reply.calls, this._work.writer, {
      tools: new Map(leg.tools.map((tool) => [tool.name, tool])),
      clock: this._work.clock,
      nextTurn: this._work.nextTurn,
      agent: leg.agent,
      context: this._work.context,
      outer: { leg, work: this._work },
      toolMs: leg.limits.toolMs,
      concurrency: leg.toolConcurrency ?? DEFAULT_TOOL_CONCURRENCY,
      policy: this._work.policy,
      handoffs: leg.handoffs ?? [],
      granted: earlier?.granted,
      parked: earlier?.parked,
      answer: this._answer.tool,
    });
    if (this._work.writer.signal.aborted) return this._over();
    await this._push({ ...reply, answers: [...reply.answers, ...(earlier?.answers ?? [])] }, batch);
    const handoff = batch.handoff ?? earlier?.handoff;
    if (handoff !== undefined) {
      return { kind: "handoff", ...handoff, text, turns: this._turns, transcript: this._transcript };
    }
    const answer = batch.answer ?? earlier?.answer;
    if (answer !== undefined) return this._finish(answer.value, text);
    if (batch.stop !== undefined) return this._verdict("hook_stopped", text, batch.stop);
    if (batch.misfit !== undefined) return this._countRepair(text, batch.misfit);
    if (this._isUnreadableAnswer(reply)) return this._countRepair(text, "its arguments are not JSON");
    return undefined;
  }

  /**
   * Whether the final answer was given by a call whose arguments are not JSON. The format has already answered that
   * call.
   */
  private _isUnreadableAnswer({ answers, message }: Replied): boolean {
    const name = this._answer.tool?.name;
    if (name === undefined || answers.length === 0) return false;
    const unread = new Set(answers.map((answer) => answer.callId));
    return message.blocks.some(
      (block) => block.type === "tool-call" && block.name === name && unread.has(block.callId),
    );
  }

  private _pastSettings(): PastCallSettings {
    const { agent, tools, handoffs = [] } = this._leg;
    return { agent, tools, handoffs, answer: this._answer.tool };
  }

  private async _push(reply: Replied, batch: BatchEnd): Promise<void> {
    const answers = [...reply.answers, ...batch.results];
    const turn = writeTurn(asMessage(reply.message), answers, this._leg.parallelToolCalls !== false);
    const notes = batch.notes.map((note) => ({ type: "text", text: note }) as const);
    const earlier = reply.past?.told.flatMap(({ blocks }) => blocks) ?? [];
    if (notes.length > 0 && turn.at(-1)?.role === "user") await this._writeToModel(notesId(reply.message), notes);
    this._transcript.push(...addNotes(turn, [...earlier, ...notes]));
  }

  /** Handles a reply without tool calls: validates the answer and checks whether the model may stop. */
  private async _tryToStop(reply: Replied, text: string): Promise<LegEnd | undefined> {
    const answer = await this._answer.read(text);
    if (answer.kind === "misfit") {
      const end = this._countRepair(text, answer.problem);
      if (end === undefined) await this._sendBack(reply, answer.feedback);
      return end;
    }
    return this._finish(answer.kind === "value" ? answer.value : undefined, text, reply);
  }

  private async _finish(structured: unknown, text: string, reply?: Replied): Promise<LegEnd | undefined> {
    const { policy, writer, nextTurn } = this._work;
    const verdict = await policy.checkStop(text, this._sentBack);
    if (writer.signal.aborted) return this._over();
    if (verdict.stop !== undefined && verdict.kind === "stop") return this._verdict("hook_stopped", text, verdict.stop);
    // A final answer given by a tool ends the leg: there is no text reply that feedback could follow.
    if (verdict.kind === "go-on" && reply !== undefined && verdict.stop === undefined) {
      this._sentBack += 1;
      await this._sendBack(reply, verdict.feedback);
      return undefined;
    }
    const { output } = this._leg;
    const shown = output === undefined ? undefined : await showOutput(structured, output, writer, nextTurn);
    return { ...this._verdict("success", text), ...(shown !== undefined && { structured: shown }) };
  }

  private async _sendBack(reply: Replied, feedback: string): Promise<void> {
    this._transcript.push(asMessage(reply.message));
    this._transcript.push(await this._writeToModel(feedbackId(reply.message), [{ type: "text", text: feedback }]));
  }

  /** Writes a message to the model that comes from Millrace, so that readers see it as well. */
  private async _writeToModel(id: string, blocks: Message["blocks"]): Promise<Message> {
    const message = { id, role: "user", blocks, source: "millrace" } as const;
    await this._work.writer.write([messageItem(message)], this._leg.agent);
    return message;
  }

  private _over(): LegEnd {
    return { kind: "over", text: this._text };
  }

  /** Informs the model once that its call could not be parsed. A second such reply in a row ends the run. */
  private async _repairCall(reply: Replied): Promise<LegEnd | undefined> {
    if (this._wasMalformed) {
      await this._work.writer.write([failureOf(reply)], this._leg.agent);
      return this._over();
    }
    this._wasMalformed = true;
    await this._sendBack(reply, MALFORMED_CALL_FEEDBACK);
    return undefined;
  }

  private _countRepair(text: string, problem: string): LegEnd | undefined {
    this._repairs += 1;
    return this._repairs > this._answer.maxRepairs
      ? this._verdict("error_max_structured_output_retries", text, problem)
      : undefined;
  }

  private _verdict(
    subtype: string,
    text: string,
    detail?: string,
    vendorStopReason?: string,
  ): LegEnd & { readonly kind: "verdict" } {
    const { limits, maxTokens } = this._leg;
    const facts = { run: this._work.budget.decisiveLimits, leg: limits, maxTokens, detail, vendorStopReason };
    const message = subtype === "success" ? undefined : describeEnd(subtype, facts);
    return { kind: "verdict", subtype, text, message, turns: this._turns };
  }

  private _request(turn: number) {
    const leg = this._leg;
    // A tool choice is enforced in the first turn only. If it were enforced in every turn, the model could never
    // finish.
    const forced = leg.toolChoice === "required" || typeof leg.toolChoice === "object";
    return {
      messages: this._transcript,
      instructions: leg.instructions,
      tools: this._specs,
      toolChoice: forced && turn > 1 ? undefined : leg.toolChoice,
      parallelToolCalls: leg.parallelToolCalls,
      maxTokens: leg.maxTokens,
      temperature: leg.temperature,
      thinkingTokens: leg.thinkingTokens,
      keepRaw: leg.keepRaw,
      replyBytes: leg.limits.replyBytes,
      output: this._answer.spec,
    };
  }
}

const MALFORMED_CALL_FEEDBACK =
  "Your last reply contained a tool call that is incomplete or could not be read, so no tool was run. Make the call again: only tools you were given, each with one complete JSON object as its arguments. If you need no tool, answer in plain text.";

/** What the stop reason of a reply means for the leg. */
function endOf(reply: Replied): "continue" | "error" | "malformed-call" | "success" | "error_max_tokens" {
  const asked = reply.message.blocks.some((block) => block.type === "tool-call");
  switch (reply.message.stopReason) {
    case "refusal":
    case "content-filter":
      return "error";
    case "malformed-call":
      return "malformed-call";
    case "pause":
      return "continue";
    case "max-tokens":
      return "error_max_tokens";
    default:
      return asked ? "continue" : "success";
  }
}

/** Returns the error for a reply that its vendor ended or whose calls could not be parsed. */
function failureOf({ backend, message }: Replied): ChunkOf<ErrorItem> {
  const failure = stopFailure(backend.name, { ...message, wasReported: true });
  if (failure === undefined) throw new TypeError(`A reply that stopped with ${message.stopReason} is not a failure.`);
  return errorItem(failure);
}

function specsOf(leg: ModelLeg, answer: AnswerPlan): readonly ToolSpec[] {
  const specs: ToolSpec[] = [...leg.tools];
  if (leg.handoffs !== undefined && leg.handoffs.length > 0) specs.push(handoffTool(leg.handoffs));
  if (answer.toolSpec !== undefined) specs.push(answer.toolSpec);
  return specs;
}

function turnSettings(leg: ModelLeg, work: LegWork, costs: CostCounter): TurnSettings {
  const idleMs = leg.limits.idleMs ?? LEG_LIMITS.idleMs;
  return {
    clock: work.clock,
    random: work.random,
    retry: leg.retry,
    fallback: leg.fallback,
    idle: { firstMs: idleMs, betweenMs: idleMs, noticeMs: Math.min(LEG_LIMITS.noticeMs, idleMs) },
    agent: leg.agent,
    started: new Set(),
    ids: work.ids,
    nextTurn: work.nextTurn,
    onSpent: (usage, backend) => costs.add(usage, backend),
    gate: work.policy.isSilentOnOutput ? undefined : () => work.policy.createOutputGate(),
  };
}

/** The backend of the leg that has this model; a reply may come from a fallback. */
function backendOf({ backend, fallback }: ModelLeg, model: string | undefined): ModelBackend {
  return [backend, ...fallback].find((candidate) => candidate.model === model) ?? backend;
}

/** A reply that an earlier process received, with what is left to do about it. */
function takeUp(past: PastReply, backend: ModelBackend): Replied {
  return { kind: "replied", message: past.message, calls: [], answers: [], backend, past };
}

/** The id of the message that sends a reply back. */
function feedbackId({ id }: { readonly id: string }): string {
  return `${id}-feedback`;
}
