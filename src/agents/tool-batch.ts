import {
  type Chunk,
  type Clock,
  elapsedSince,
  type NextTurn,
  present,
  type Skipped,
  type ChunkOf,
  type ToolCallItem,
  type ToolResultBlock,
  toolResultItem,
} from "#domain";
import type { HookEffects, RunPolicy } from "#policy";
import { type Outcome, runTool, type SettledOutcome, type Tool, ToolPlaces } from "#tools";
import { changedHandoff, HANDOFF_TOOL, readHandoff } from "./handoff.ts";
import type { OuterRun } from "./leg.ts";
import { mayTakeEffect, type RunWriter } from "#run";
import { awaitParked, parkedNotice } from "./parked-call.ts";
import { stateNotice } from "./state-notice.ts";

export interface BatchSettings {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly clock: Clock;
  readonly nextTurn?: NextTurn | undefined;
  readonly agent: string | undefined;
  readonly context: unknown;
  /** The run the calls belong to, for tools that run agents. */
  readonly outer: OuterRun;
  readonly toolMs: number | undefined;
  /** How many calls of one turn may run at the same time. */
  readonly concurrency: number;
  readonly policy: RunPolicy;
  readonly handoffs: readonly string[];
  /** Calls that were allowed before, in an earlier process: their ids and arguments. They are not decided again. */
  readonly granted?: ReadonlyMap<string, unknown> | undefined;
  /** Calls that wait for their result since an earlier process. */
  readonly parked?: ReadonlyMap<string, ParkedOutcome> | undefined;
  /** The tool for the final answer, if answers are given by a tool. */
  readonly answer?: AnswerTool | undefined;
}

/** A tool whose call is the final answer of the leg. */
export interface AnswerTool {
  readonly name: string;
  /** Reads the arguments. Returns the value, or what is wrong with it and the feedback for the model. */
  read(
    input: unknown,
  ): Promise<
    | { readonly fits: true; readonly value: unknown }
    | { readonly fits: false; readonly problem: string; readonly feedback: string }
  >;
}

/** The end of a batch: one result per call, in the order of the calls, and what ends the leg, if anything does. */
export interface BatchEnd {
  readonly results: readonly ToolResultBlock[];
  /** Additional notes for the model, from hooks. */
  readonly notes: readonly string[];
  /** The reason, if a hook ended the run. */
  readonly stop: string | undefined;
  readonly handoff: { readonly to: string; readonly message: string } | undefined;
  readonly answer: { readonly value: unknown } | undefined;
  /** The problem, if a final answer did not fit the schema. */
  readonly misfit: string | undefined;
}

/**
 * Runs the tool calls of one turn, in parallel as far as allowed. Every call gets exactly one result: its event is
 * written when the call has finished, and the transcript has the results in the order of the calls. Calls before a
 * handoff run; calls after it are answered without running (S2-2). After an abort, the run answers the calls that are
 * still open.
 */
export async function runBatch(
  calls: readonly ChunkOf<ToolCallItem>[],
  writer: RunWriter,
  settings: BatchSettings,
): Promise<BatchEnd> {
  const batch = new Batch(writer, settings);
  let group: ChunkOf<ToolCallItem>[] = [];
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
  if (!writer.signal.aborted) await batch.skip(calls.filter((call) => !batch.isAnswered(call)));
  return batch.end(calls);
}

/**
 * Whether a call runs without others in parallel. With a concurrency of 1, this also delays its permission question
 * until the call is next.
 */
function runsAlone(call: ChunkOf<ToolCallItem>, { tools, concurrency }: BatchSettings): boolean {
  return concurrency <= 1 || tools.get(call.name)?.sequential === true;
}

/** Handoffs and final answers run alone, because whether the calls after them run depends on their outcome. */
function isSpecial(call: ChunkOf<ToolCallItem>, settings: BatchSettings): boolean {
  return (call.name === HANDOFF_TOOL && settings.handoffs.length > 0) || call.name === settings.answer?.name;
}

/**
 * A model may write hundreds of thousands of calls in one reply. Each call at work listens for an abort, and the time to
 * add a listener grows with their number.
 */
const CALLS_AT_ONCE = 256;

/** How many calls may begin in one turn of the event loop. */
const CALLS_IN_TURN = 64;

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

  isAnswered({ callId }: ChunkOf<ToolCallItem>): boolean {
    return this._results.has(callId);
  }

  /** Whether no further call may run. */
  get isOver(): boolean {
    return (
      this._writer.signal.aborted ||
      this._stop !== undefined ||
      this._handoff !== undefined ||
      this._answer !== undefined
    );
  }

  /** Returns the results in the order of the calls, and what ends the leg. */
  end(calls: readonly ChunkOf<ToolCallItem>[]): BatchEnd {
    return {
      results: calls.flatMap(({ callId }) => this._results.get(callId) ?? []),
      notes: calls.flatMap(({ callId }) => this._notes.get(callId) ?? []),
      stop: this._stop,
      handoff: this._handoff,
      answer: this._answer,
      misfit: this._misfit,
    };
  }

  /**
   * Runs calls in parallel, up to the allowed number at a time. Calls that have not started when a hook ends the run do
   * not start.
   */
  async runTogether(calls: readonly ChunkOf<ToolCallItem>[]): Promise<void> {
    const { nextTurn } = this._settings;
    let next = 0;
    let pause: Promise<void> | undefined;
    const takeCalls = async (): Promise<void> => {
      for (;;) {
        while (pause !== undefined) await pause;
        const call = calls[next];
        if (call === undefined) return;
        next += 1;
        // Tools that answer at once would otherwise run all calls in one turn.
        if (next % CALLS_IN_TURN === 0) pause = nextTurn?.().then(() => void (pause = undefined));
        await this._runCall(call);
      }
    };
    await Promise.all(Array.from({ length: Math.min(calls.length, CALLS_AT_ONCE) }, takeCalls));
  }

  private async _runCall(call: ChunkOf<ToolCallItem>): Promise<void> {
    const finished = await this._finish(call);
    if (finished === undefined || this._writer.signal.aborted) return;
    await this._answerWith(call, finished);
  }

  /** Checks the policy and runs the call. Returns `undefined` if the batch ends before that. */
  private async _finish(call: ChunkOf<ToolCallItem>): Promise<Answer | undefined> {
    const { policy, tools, clock } = this._settings;
    const calledAt = clock.now();
    if (policy.isSilentOnTools || !tools.has(call.name)) {
      const ran = await this._run(call, call.input, calledAt);
      return ran && { output: ran.outcome.output, isError: ran.outcome.kind === "failed", ...ran.times };
    }
    const { callId, name, executedBy } = call;
    const decided = await this._decide(call);
    if ("denied" in decided) return deny(decided.denied);
    const ran = await this._run(call, decided.input, calledAt);
    if (ran === undefined) return undefined;
    const checked = { callId, name, executedBy, input: decided.input };
    const isError = ran.outcome.kind === "failed";
    const result = await policy.checkResult(checked, { output: ran.outcome.output, isError });
    this._note(call, result);
    return { output: result.output, isError: result.isError, ...ran.times };
  }

  /** Returns the arguments with which the call may run, or why it may not. */
  private async _decide(
    call: ChunkOf<ToolCallItem>,
  ): Promise<{ readonly input: unknown } | { readonly denied: string }> {
    const { policy, granted } = this._settings;
    const { callId, name, input, executedBy } = call;
    if (granted?.has(callId) === true) return { input: granted.get(callId) };
    if (this._settings.parked?.has(callId) === true) return { input };
    const verdict = await policy.checkCall({ callId, name, input, executedBy });
    this._note(call, verdict);
    if (verdict.kind === "denied") return { denied: verdict.reason };
    // A grant covers exactly these arguments, once. Arguments that were changed after the decision are denied.
    if (!verdict.grant.redeem(verdict.input)) return { denied: "The arguments are not the ones that were allowed." };
    return { input: verdict.input };
  }

  private async _run(
    call: ChunkOf<ToolCallItem>,
    input: unknown,
    calledAt: number,
  ): Promise<{ readonly outcome: SettledOutcome; readonly times: CallTimes } | undefined> {
    const waiting = this._settings.parked?.get(call.callId);
    const ran =
      waiting === undefined ? await this._runNow(call, input, calledAt) : { outcome: waiting, times: NO_TIMES };
    if (ran?.outcome.kind !== "parked") return ran as { outcome: SettledOutcome; times: CallTimes } | undefined;
    if (waiting === undefined) await this._writer.write([parkedNotice(call, ran.outcome)], this._settings.agent);
    const outcome = await awaitParked(call, ran.outcome, { writer: this._writer, clock: this._settings.clock });
    return outcome && { outcome, times: ran.times };
  }

  private async _runNow(
    call: ChunkOf<ToolCallItem>,
    input: unknown,
    calledAt: number,
  ): Promise<{ readonly outcome: Outcome; readonly times: CallTimes } | undefined> {
    const { tools, clock } = this._settings;
    const { signal } = this._writer;
    const leave = await this._places.take(tools.get(call.name)?.sequential === true, signal);
    if (leave === undefined) return undefined;
    try {
      if (this._stop !== undefined) return undefined;
      const isStored = mayTakeEffect(this._writer);
      if (isStored !== true && !(await isStored)) return undefined;
      const startedAt = clock.now();
      const outcome = await outcomeOf(call, input, this._writer, this._settings);
      const waitedMs = startedAt - calledAt;
      return { outcome, times: { ms: elapsedSince(clock, startedAt), ...(waitedMs > 0 && { waitedMs }) } };
    } finally {
      leave();
    }
  }

  private _note({ callId }: ChunkOf<ToolCallItem>, { notes, stop }: HookEffects): void {
    if (notes.length > 0) this._notes.set(callId, [...(this._notes.get(callId) ?? []), ...notes]);
    this._stop ??= stop;
  }

  async runSpecial(call: ChunkOf<ToolCallItem>): Promise<void> {
    await (call.name === this._settings.answer?.name
      ? this._takeAnswer(call, this._settings.answer)
      : this._handOver(call));
  }

  /** Answers the calls that are not run. */
  async skip(calls: readonly ChunkOf<ToolCallItem>[]): Promise<void> {
    const skipped: Skipped = this._handoff === undefined ? "aborted" : "handoff";
    const output = this._whySkipped();
    for (const call of calls) await this._answerWith(call, { output, isError: true, skipped });
  }

  private _whySkipped(): string {
    if (this._handoff !== undefined)
      return `Not run: the conversation had already been handed over to ${this._handoff.to}.`;
    if (this._answer !== undefined) return "Not run: the final answer was given before.";
    return "Not run: the run was stopped before.";
  }

  private async _takeAnswer(call: ChunkOf<ToolCallItem>, tool: AnswerTool): Promise<void> {
    const read = await tool.read(call.input);
    if (read.fits) this._answer = { value: read.value };
    else this._misfit = read.problem;
    await this._answerWith(call, {
      output: read.fits ? "Taken as the final answer." : read.feedback,
      isError: !read.fits,
    });
  }

  private async _handOver(call: ChunkOf<ToolCallItem>): Promise<void> {
    const { policy, handoffs, agent } = this._settings;
    const wanted = readHandoff(call.input, handoffs);
    if (!wanted.fits) return this._answerWith(call, { output: wanted.problem, isError: true });
    const from = agent ?? "";
    const verdict = await policy.checkHandoff({ from, to: wanted.to, message: wanted.message });
    this._note(call, verdict);
    if (this._writer.signal.aborted) return;
    if (verdict.kind === "blocked")
      return this._answerWith(call, { output: verdict.reason, isError: true, skipped: "denied" });
    if (this._stop !== undefined) return;
    this._handoff = { to: wanted.to, message: verdict.message };
    await this._writer.write(changedHandoff(call.callId, wanted, verdict.message), agent);
    await this._answerWith(call, { output: `Handed over to ${wanted.to}.`, isError: false });
  }

  private async _answerWith(call: ChunkOf<ToolCallItem>, answer: Answer): Promise<void> {
    const { callId, name } = call;
    const { output, isError, skipped, ms, waitedMs } = answer;
    const chunk: Chunk = toolResultItem({
      callId,
      name,
      output,
      isError,
      ...present({ skipped, ms, waitedMs }),
    });
    this._results.set(callId, { type: "tool-result", callId, output, isError });
    await this._writer.write([chunk], this._settings.agent);
  }
}

type ParkedOutcome = Extract<Outcome, { readonly kind: "parked" }>;

const NO_TIMES: CallTimes = {};

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
  call: ChunkOf<ToolCallItem>,
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
    signal: writer.signal,
    clock: settings.clock,
    nextTurn: settings.nextTurn,
    timeoutMs: settings.toolMs,
    onProgress: (state) => void writer.write([stateNotice(call, state)], settings.agent),
  });
}
