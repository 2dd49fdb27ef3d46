import {
  type Chunk,
  type Clock,
  elapsedSince,
  type Skipped,
  type ToolCallItem,
  type ToolResultBlock,
  toolResultItem,
} from "#domain";
import type { HookEffects, RunPolicy } from "#policy";
import { type Outcome, runTool, type Tool, ToolPlaces } from "#tools";
import { HANDOFF_TOOL, readHandoff } from "./handoff.ts";
import type { OuterRun } from "./leg.ts";
import type { RunWriter } from "./run.ts";
import { stateNotice } from "./state-notice.ts";

export interface BatchSettings {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly clock: Clock;
  readonly agent: string | undefined;
  readonly context: unknown;
  /** The run the calls stand in, for tools that carry out agents. */
  readonly outer: OuterRun;
  readonly toolMs: number | undefined;
  /** How many calls of one turn may run at the same time. */
  readonly concurrency: number;
  readonly policy: RunPolicy;
  readonly handoffs: readonly string[];
  /** The call that gives the final answer, when answers are given by a tool. */
  readonly answer?: AnswerTool | undefined;
}

/** A tool whose call is the leg's final answer. */
export interface AnswerTool {
  readonly name: string;
  /** Reads the arguments: the value, or what is wrong with it and what the model is told. */
  read(
    input: unknown,
  ): Promise<
    | { readonly fits: true; readonly value: unknown }
    | { readonly fits: false; readonly problem: string; readonly feedback: string }
  >;
}

/** What a batch came to: one result per call, in the order of the calls, and what ends the leg. */
export interface BatchEnd {
  readonly results: readonly ToolResultBlock[];
  /** Further notes for the model, from hooks. */
  readonly notes: readonly string[];
  /** A hook ends the run, for this reason. */
  readonly stop: string | undefined;
  readonly handoff: { readonly to: string; readonly message: string } | undefined;
  readonly answer: { readonly value: unknown } | undefined;
  /** A final answer came that did not fit: why. */
  readonly misfit: string | undefined;
}

/**
 * Runs the tool calls of one turn, beside each other as far as they may. Every call gets exactly one result: its event
 * comes when the call has finished, and the transcript has them in the order of the calls. The calls before a handoff
 * run, the ones after it are answered without running (S2-2). After an abort the rest is left to the run, which
 * answers what is open.
 */
export async function runBatch(
  calls: readonly ToolCallItem[],
  writer: RunWriter,
  settings: BatchSettings,
): Promise<BatchEnd> {
  const batch = new Batch(writer, settings);
  let group: ToolCallItem[] = [];
  for (const call of calls) {
    if (batch.isOver) break;
    const isSpecialCall = isSpecial(call, settings);
    if (!isSpecialCall && !runsAlone(call, settings)) {
      group.push(call);
      continue;
    }
    await batch.runTogether(group);
    group = [];
    if (batch.isOver) break;
    if (isSpecialCall) await batch.runSpecial(call);
    else await batch.runTogether([call]);
  }
  if (!batch.isOver) await batch.runTogether(group);
  if (!writer.latch.aborted) await batch.skip(calls.filter((call) => !batch.isAnswered(call)));
  return batch.end(calls);
}

/** With one place there is nothing to run beside it, and its permission is asked for when its turn has come. */
function runsAlone(call: ToolCallItem, { tools, concurrency }: BatchSettings): boolean {
  return concurrency <= 1 || tools.get(call.name)?.sequential === true;
}

/** Calls that are ours to understand stand alone: what comes behind one depends on it. */
function isSpecial(call: ToolCallItem, settings: BatchSettings): boolean {
  return (call.name === HANDOFF_TOOL && settings.handoffs.length > 0) || call.name === settings.answer?.name;
}

class Batch {
  private readonly _writer: RunWriter;
  private readonly _settings: BatchSettings;
  private readonly _places: ToolPlaces;
  private readonly _results = new Map<string, ToolResultBlock>();
  private readonly _notes = new Map<string, readonly string[]>();
  private _stop: string | undefined;
  private _handoff: BatchEnd["handoff"];
  private _answer: BatchEnd["answer"];
  private _misfit: string | undefined;

  constructor(writer: RunWriter, settings: BatchSettings) {
    this._writer = writer;
    this._settings = settings;
    this._places = new ToolPlaces(settings.concurrency);
  }

  isAnswered({ callId }: ToolCallItem): boolean {
    return this._results.has(callId);
  }

  /** Nothing further is run. */
  get isOver(): boolean {
    return (
      this._writer.latch.aborted ||
      this._stop !== undefined ||
      this._handoff !== undefined ||
      this._answer !== undefined
    );
  }

  /** What it came to, in the order of the calls. */
  end(calls: readonly ToolCallItem[]): BatchEnd {
    return {
      results: calls.flatMap(({ callId }) => this._results.get(callId) ?? []),
      notes: calls.flatMap(({ callId }) => this._notes.get(callId) ?? []),
      stop: this._stop,
      handoff: this._handoff,
      answer: this._answer,
      misfit: this._misfit,
    };
  }

  /** Runs calls of tools beside each other, as many at once as allowed. What has not begun when a hook ends the run, does not. */
  async runTogether(calls: readonly ToolCallItem[]): Promise<void> {
    await Promise.all(calls.map((call) => this._runCall(call)));
  }

  private async _runCall(call: ToolCallItem): Promise<void> {
    const finished = await this._finish(call);
    if (finished === undefined || this._writer.latch.aborted) return;
    await this._answerWith(call, finished);
  }

  /** Decides about a call and runs it; `undefined` when the batch is over before that. */
  private async _finish(call: ToolCallItem): Promise<Answer | undefined> {
    const { policy, tools, clock } = this._settings;
    const calledAt = clock.now();
    if (policy.isSilentOnTools || !tools.has(call.name)) {
      const ran = await this._run(call, call.input, calledAt);
      return ran && { output: ran.outcome.output, isError: ran.outcome.kind === "failed", ...ran.times };
    }
    const { callId, name, executedBy } = call;
    const verdict = await policy.checkCall({ callId, name, input: call.input, executedBy });
    this._note(call, verdict);
    if (verdict.kind === "denied") return deny(verdict.reason);
    // What was allowed is exactly this, once: a change behind the decision's back is a denial.
    if (!verdict.grant.redeem(verdict.input)) return deny("The arguments are not the ones that were allowed.");
    const ran = await this._run(call, verdict.input, calledAt);
    if (ran === undefined) return undefined;
    const checked = { callId, name, executedBy, input: verdict.input };
    const isError = ran.outcome.kind === "failed";
    const result = await policy.checkResult(checked, { output: ran.outcome.output, isError });
    this._note(call, result);
    return { output: result.output, isError: result.isError, ...ran.times };
  }

  private async _run(
    call: ToolCallItem,
    input: unknown,
    calledAt: number,
  ): Promise<{ readonly outcome: Outcome; readonly times: CallTimes } | undefined> {
    const { tools, clock } = this._settings;
    const { signal } = this._writer.latch;
    const leave = await this._places.take(tools.get(call.name)?.sequential === true, signal);
    if (leave === undefined) return undefined;
    try {
      if (this._stop !== undefined) return undefined;
      const startedAt = clock.now();
      const outcome = await outcomeOf(call, input, this._writer, this._settings);
      const waitedMs = startedAt - calledAt;
      return { outcome, times: { ms: elapsedSince(clock, startedAt), ...(waitedMs > 0 && { waitedMs }) } };
    } finally {
      leave();
    }
  }

  private _note({ callId }: ToolCallItem, { notes, stop }: HookEffects): void {
    if (notes.length > 0) this._notes.set(callId, [...(this._notes.get(callId) ?? []), ...notes]);
    this._stop ??= stop;
  }

  async runSpecial(call: ToolCallItem): Promise<void> {
    await (call.name === this._settings.answer?.name
      ? this._takeAnswer(call, this._settings.answer)
      : this._handOver(call));
  }

  /** Answers what is not run any more. */
  async skip(calls: readonly ToolCallItem[]): Promise<void> {
    const skipped: Skipped = this._handoff === undefined ? "aborted" : "handoff";
    const output = this._whySkipped();
    for (const call of calls) await this._answerWith(call, { output, isError: true, skipped });
  }

  private _whySkipped(): string {
    if (this._handoff !== undefined) return `Not run: the conversation was handed over to ${this._handoff.to} before.`;
    if (this._answer !== undefined) return "Not run: the final answer was given before.";
    return "Not run: the run was stopped before.";
  }

  private async _takeAnswer(call: ToolCallItem, tool: AnswerTool): Promise<void> {
    const read = await tool.read(call.input);
    if (read.fits) this._answer = { value: read.value };
    else this._misfit = read.problem;
    await this._answerWith(call, {
      output: read.fits ? "Taken as the final answer." : read.feedback,
      isError: !read.fits,
    });
  }

  private async _handOver(call: ToolCallItem): Promise<void> {
    const { policy, handoffs, agent } = this._settings;
    const wanted = readHandoff(call.input, handoffs);
    if (!wanted.fits) return this._answerWith(call, { output: wanted.problem, isError: true });
    const from = agent ?? "";
    const verdict = await policy.checkHandoff({ from, to: wanted.to, message: wanted.message });
    this._note(call, verdict);
    if (this._writer.latch.aborted) return;
    if (verdict.kind === "blocked")
      return this._answerWith(call, { output: verdict.reason, isError: true, skipped: "denied" });
    if (this._stop !== undefined) return;
    this._handoff = { to: wanted.to, message: verdict.message };
    await this._answerWith(call, { output: `Handed over to ${wanted.to}.`, isError: false });
  }

  private async _answerWith(call: ToolCallItem, answer: Answer): Promise<void> {
    const { callId, name } = call;
    const { output, isError, skipped, ms, waitedMs } = answer;
    const chunk: Chunk = toolResultItem({
      callId,
      name,
      output,
      isError,
      ...(skipped !== undefined && { skipped }),
      ...(ms !== undefined && { ms }),
      ...(waitedMs !== undefined && { waitedMs }),
    });
    this._results.set(callId, { type: "tool-result", callId, output, isError });
    await this._writer.write([chunk], this._settings.agent);
  }
}

interface CallTimes {
  readonly ms?: number | undefined;
  readonly waitedMs?: number | undefined;
}

interface Answer extends CallTimes {
  readonly output: unknown;
  readonly isError: boolean;
  readonly skipped?: Skipped | undefined;
}

function deny(reason: string): Answer {
  return { output: reason, isError: true, skipped: "denied" };
}

async function outcomeOf(
  call: ToolCallItem,
  input: unknown,
  writer: RunWriter,
  settings: BatchSettings,
): Promise<Outcome> {
  const tool = settings.tools.get(call.name);
  if (tool === undefined) {
    const known = [...settings.tools.keys()].join(", ");
    const remedy = known === "" ? "There are no tools." : `Use one of: ${known}.`;
    return { kind: "failed", why: "unknown-tool", output: `There is no tool "${call.name}". ${remedy}` };
  }
  return runTool(tool, input, {
    callId: call.callId,
    runId: writer.runId,
    agent: settings.agent,
    context: settings.context,
    outer: settings.outer,
    signal: writer.latch.signal,
    clock: settings.clock,
    timeoutMs: settings.toolMs,
    onProgress: (state) => void writer.write([stateNotice(call, state)], settings.agent),
  });
}
