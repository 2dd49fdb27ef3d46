import type { ToolSpec } from "#backends";
import {
  type ErrorItem,
  errorItem,
  type Message,
  type MessageItem,
  messageItem,
  stopFailure,
  textOf,
  warningItem,
} from "#domain";
import { DEFAULT_TOOL_CONCURRENCY } from "#tools";
import { describeEnd } from "./end-message.ts";
import { handoffTool } from "./handoff.ts";
import { CostCounter } from "./cost-counter.ts";
import { LEG_LIMITS, type LegEnd, type LegWork, type ModelLeg } from "./leg.ts";
import { type AnswerPlan, planAnswer } from "./answer.ts";
import { showOutput } from "./shown-output.ts";
import { type BatchEnd, runBatch } from "./tool-batch.ts";
import { writeTurn } from "./transcript.ts";
import { announce, askModel, type Reply, type TurnSettings } from "./turn.ts";

/** What a leg used, beside how it ended. */
export interface ModelLegEnd {
  readonly end: LegEnd;
  readonly ledger: CostCounter;
}

/**
 * Carries out one leg on a model backend: ask, run the tools, ask again, until the model has nothing more to ask, hands
 * over, or a limit is reached.
 */
export async function runModelLeg(leg: ModelLeg, work: LegWork, showInput: () => Promise<void>): Promise<ModelLegEnd> {
  const ledger = new CostCounter(work.price, work.budget);
  const runner = new Runner(leg, work, ledger);
  await runner.announce();
  await showInput();
  return { end: await runner.loop(), ledger };
}

type Replied = Extract<Reply, { kind: "replied" }>;

/** One leg on its way. A class, because the steps of the loop share what they know of it. */
class Runner {
  private readonly _leg: ModelLeg;
  private readonly _work: LegWork;
  private readonly _ledger: CostCounter;
  private readonly _answer: AnswerPlan;
  private readonly _specs: readonly ToolSpec[];
  private readonly _settings: TurnSettings;
  private readonly _transcript: Message[];
  private _turns = 0;
  private _text = "";
  private _sentBack = 0;
  private _repairs = 0;
  /** The last reply held a tool call that its host could not read. */
  private _wasMalformed = false;

  constructor(leg: ModelLeg, work: LegWork, ledger: CostCounter) {
    this._leg = leg;
    this._work = work;
    this._ledger = ledger;
    this._answer = planAnswer(leg);
    this._specs = specsOf(leg, this._answer);
    this._settings = turnSettings(leg, work, ledger);
    this._transcript = [...work.messages];
  }

  announce(): Promise<void> {
    const request = this._request(1);
    return announce(this._leg.backend, request, this._work.writer, this._settings);
  }

  async loop(): Promise<LegEnd> {
    const { writer, budget } = this._work;
    const maxTurns = this._leg.limits.turns ?? LEG_LIMITS.turns;
    for (;;) {
      this._turns += 1;
      const reply = await askModel(this._leg.backend, this._request(this._turns), writer, this._settings);
      if (reply.kind === "failed") await writer.write([reply.error], this._leg.agent);
      if (reply.kind !== "replied") return this._over();
      this._text = textOf(reply.message.blocks);
      await this._book(reply);
      if (reply.message.stopReason !== "malformed-call") this._wasMalformed = false;
      const end = await this._takeReply(reply);
      if (end !== undefined) return end;
      const text = textOf(reply.message.blocks);
      const reached = this._turns >= maxTurns ? "error_max_turns" : budget.reached;
      if (reached !== undefined) return this._verdict(reached, text);
    }
  }

  private async _book(reply: Replied): Promise<void> {
    const { budget, writer } = this._work;
    this._ledger.add(reply.message.usage ?? {}, reply.backend);
    if (budget.limits.costUsd === undefined && budget.limits.tokens === undefined) return;
    await this._ledger.settle();
    if (!budget.takeCostWarning()) return;
    const message = `The price of ${reply.backend.name}/${reply.backend.model} is unknown, so limits.costUsd cannot be kept.`;
    await writer.write(
      [warningItem({ code: "option-ignored", message, context: { option: "limits.costUsd" } })],
      this._leg.agent,
    );
  }

  /** What a reply means for the leg: its end, or `undefined` to go on. */
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
    const batch = await runBatch(reply.calls, this._work.writer, {
      tools: new Map(leg.tools.map((tool) => [tool.name, tool])),
      clock: this._work.clock,
      agent: leg.agent,
      context: this._work.context,
      outer: { leg, work: this._work },
      toolMs: leg.limits.toolMs,
      concurrency: leg.toolConcurrency ?? DEFAULT_TOOL_CONCURRENCY,
      policy: this._work.policy,
      handoffs: leg.handoffs ?? [],
      answer: this._answer.tool,
    });
    if (this._work.writer.latch.aborted) return this._over();
    await this._push(reply, batch);
    if (batch.handoff !== undefined) {
      return { kind: "handoff", ...batch.handoff, text, turns: this._turns, transcript: this._transcript };
    }
    if (batch.answer !== undefined) return this._finish(batch.answer.value, text);
    if (batch.stop !== undefined) return this._verdict("hook_stopped", text, batch.stop);
    if (batch.misfit !== undefined) return this._countRepair(text, batch.misfit);
    if (this._isUnreadableAnswer(reply)) return this._countRepair(text, "its arguments are not JSON");
    return undefined;
  }

  /** The final answer was given by a call whose arguments are no JSON; the format has answered it already. */
  private _isUnreadableAnswer({ answers, message }: Replied): boolean {
    const name = this._answer.tool?.name;
    if (name === undefined || answers.length === 0) return false;
    const unread = new Set(answers.map((answer) => answer.callId));
    return message.blocks.some(
      (block) => block.type === "tool-call" && block.name === name && unread.has(block.callId),
    );
  }

  private async _push(reply: Replied, batch: BatchEnd): Promise<void> {
    const answers = [...reply.answers, ...batch.results];
    const turn = [...writeTurn(asMessage(reply.message), answers, this._leg.parallelToolCalls !== false)];
    const last = turn.at(-1);
    if (batch.notes.length > 0 && last?.role === "user") {
      const notes = batch.notes.map((note) => ({ type: "text", text: note }) as const);
      turn[turn.length - 1] = { ...last, blocks: [...last.blocks, ...notes] };
      await this._tell(`${reply.message.id}-notes`, notes);
    }
    this._transcript.push(...turn);
  }

  /** The model has nothing more to ask: is its answer what was wanted, and may it stop? */
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
    const verdict = await this._work.policy.checkStop(text, this._sentBack);
    if (this._work.writer.latch.aborted) return this._over();
    if (verdict.stop !== undefined && verdict.kind === "stop") return this._verdict("hook_stopped", text, verdict.stop);
    // A final answer given by a tool ends the leg: there is no reply that feedback could follow.
    if (verdict.kind === "go-on" && reply !== undefined && verdict.stop === undefined) {
      this._sentBack += 1;
      await this._sendBack(reply, verdict.feedback);
      return undefined;
    }
    const shown = this._leg.output === undefined ? undefined : showOutput(structured, this._work.writer);
    return { ...this._verdict("success", text), ...(shown !== undefined && { structured: shown }) };
  }

  private async _sendBack(reply: Replied, feedback: string): Promise<void> {
    this._transcript.push(asMessage(reply.message));
    this._transcript.push(await this._tell(`${reply.message.id}-feedback`, [{ type: "text", text: feedback }]));
  }

  /** Shows what the model is told by us and by nobody else. */
  private async _tell(id: string, blocks: Message["blocks"]): Promise<Message> {
    const message = { id, role: "user", blocks, source: "millrace" } as const;
    await this._work.writer.write([messageItem(message)], this._leg.agent);
    return message;
  }

  private _over(): LegEnd {
    return { kind: "over", text: this._text };
  }

  /** The model is told once that its call could not be read; a second one in a row ends the run. */
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
    const facts = { run: this._work.budget.limits, leg: limits, maxTokens, detail, vendorStopReason };
    const message = subtype === "success" ? undefined : describeEnd(subtype, facts);
    return { kind: "verdict", subtype, text, message, turns: this._turns };
  }

  private _request(turn: number) {
    const leg = this._leg;
    // A forced tool is forced once; forced in every turn, the model could never come to an end.
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
      output: this._answer.spec,
    };
  }
}

const MALFORMED_CALL_FEEDBACK =
  "Your last reply held a tool call that could not be read, so no tool was run. Make the call again: only tools you were given, each with one complete JSON object as its arguments. If you need no tool, answer in plain text.";

/** What the model's stop reason means for the leg. */
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
      return asked ? "continue" : "error_max_tokens";
    default:
      return asked ? "continue" : "success";
  }
}

/** The error of a reply that its vendor ended, or whose calls could not be read. */
function failureOf({ backend, message }: Replied): ErrorItem {
  const failure = stopFailure(backend.name, { ...message, wasTold: true });
  if (failure === undefined) throw new TypeError(`A reply that stopped with ${message.stopReason} is no failure.`);
  return errorItem(failure);
}

function specsOf(leg: ModelLeg, answer: AnswerPlan): readonly ToolSpec[] {
  const specs: ToolSpec[] = [...leg.tools];
  if (leg.handoffs !== undefined && leg.handoffs.length > 0) specs.push(handoffTool(leg.handoffs));
  if (answer.toolSpec !== undefined) specs.push(answer.toolSpec);
  return specs;
}

function turnSettings(leg: ModelLeg, work: LegWork, ledger: CostCounter): TurnSettings {
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
    onSpent: (usage, backend) => ledger.add(usage, backend),
    gate: work.policy.isSilentOnOutput ? undefined : () => work.policy.createOutputGate(),
  };
}

function asMessage(message: MessageItem): Message {
  const { id, role, blocks, model } = message;
  return { id, role, blocks, ...(model !== undefined && { model }) };
}
