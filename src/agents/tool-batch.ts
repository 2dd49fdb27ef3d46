import {
  type Chunk,
  type Clock,
  noticeItem,
  type Skipped,
  type ToolCallItem,
  type ToolResultBlock,
  toolResultItem,
} from "#domain";
import type { RunPolicy } from "#policy";
import { type Outcome, runTool, type Tool } from "#tools";
import { HANDOFF_TOOL, readHandoff } from "./handoff.ts";
import type { RunWriter } from "./run.ts";

export interface BatchSettings {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly clock: Clock;
  readonly agent: string | undefined;
  readonly context: unknown;
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
  /** Reads the arguments: the value, or what the model is told is wrong with it. */
  read(
    input: unknown,
  ): Promise<{ readonly fits: true; readonly value: unknown } | { readonly fits: false; readonly problem: string }>;
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
  /** A final answer came that did not fit. */
  readonly misfit: boolean;
}

/**
 * Runs the tool calls of one turn. Every call gets exactly one result, in the order of the calls. The calls before a
 * handoff run, the ones behind it are answered without running (S2-2). After an abort the rest is left to the run,
 * which answers what is open.
 */
export async function runBatch(
  calls: readonly ToolCallItem[],
  writer: RunWriter,
  settings: BatchSettings,
): Promise<BatchEnd> {
  const batch = new Batch(writer, settings);
  let start = 0;
  for (let index = 0; index <= calls.length && !batch.isOver; index += 1) {
    const call = calls[index];
    if (call !== undefined && !isSpecial(call, settings)) continue;
    await batch.runPlain(calls.slice(start, index));
    start = index;
    if (call === undefined || batch.isOver) break;
    await batch.runSpecial(call);
    start = index + 1;
  }
  if (!writer.latch.isFired) await batch.skip(calls.slice(batch.answered));
  return batch.end();
}

/** Calls that are ours to understand stand alone: what comes behind one depends on it. */
function isSpecial(call: ToolCallItem, settings: BatchSettings): boolean {
  return (call.name === HANDOFF_TOOL && settings.handoffs.length > 0) || call.name === settings.answer?.name;
}

class Batch {
  private readonly _writer: RunWriter;
  private readonly _settings: BatchSettings;
  private readonly _results: ToolResultBlock[] = [];
  private readonly _notes: string[] = [];
  private _stop: string | undefined;
  private _handoff: BatchEnd["handoff"];
  private _answer: BatchEnd["answer"];
  private _misfit = false;

  constructor(writer: RunWriter, settings: BatchSettings) {
    this._writer = writer;
    this._settings = settings;
  }

  /** How many calls have their result. */
  get answered(): number {
    return this._results.length;
  }

  /** Nothing further is run. */
  get isOver(): boolean {
    return (
      this._writer.latch.isFired ||
      this._stop !== undefined ||
      this._handoff !== undefined ||
      this._answer !== undefined
    );
  }

  end(): BatchEnd {
    return {
      results: this._results,
      notes: this._notes,
      stop: this._stop,
      handoff: this._handoff,
      answer: this._answer,
      misfit: this._misfit,
    };
  }

  /** Runs calls of tools, as many at once as allowed; results are written in the order of the calls. */
  async runPlain(calls: readonly ToolCallItem[]): Promise<void> {
    const pending: Promise<Finished>[] = [];
    let next = 0;
    for (let done = 0; done < calls.length; done += 1) {
      while (next < calls.length && pending.length < Math.max(1, this._settings.concurrency) && !this.isOver) {
        pending.push(runCall(calls[next] as ToolCallItem, this._writer, this._settings));
        next += 1;
      }
      const finished = await pending.shift();
      if (finished === undefined || this._writer.latch.isFired) return;
      this._notes.push(...finished.notes);
      this._stop ??= finished.stop;
      await this._answerWith(calls[done] as ToolCallItem, finished);
    }
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
    else this._misfit = true;
    await this._answerWith(call, {
      output: read.fits ? "Taken as the final answer." : read.problem,
      isError: !read.fits,
    });
  }

  private async _handOver(call: ToolCallItem): Promise<void> {
    const { policy, handoffs, agent } = this._settings;
    const wanted = readHandoff(call.input, handoffs);
    if (!wanted.fits) return this._answerWith(call, { output: wanted.problem, isError: true });
    const from = agent ?? "";
    const verdict = await policy.checkHandoff({ from, to: wanted.to, message: wanted.message });
    this._notes.push(...verdict.notes);
    if (this._writer.latch.isFired) return;
    this._stop ??= verdict.stop;
    if (verdict.kind === "blocked")
      return this._answerWith(call, { output: verdict.reason, isError: true, skipped: "denied" });
    if (this._stop !== undefined) return;
    this._handoff = { to: wanted.to, message: verdict.message };
    await this._answerWith(call, { output: `Handed over to ${wanted.to}.`, isError: false });
  }

  private async _answerWith(call: ToolCallItem, answer: Answer): Promise<void> {
    const { callId, name } = call;
    const { output, isError, skipped, ms } = answer;
    const chunk: Chunk = toolResultItem({
      callId,
      name,
      output,
      isError,
      ...(skipped !== undefined && { skipped }),
      ...(ms !== undefined && { ms }),
    });
    await this._writer.write([chunk], this._settings.agent);
    this._results.push({ type: "tool-result", callId, output, isError });
  }
}

interface Answer {
  readonly output: unknown;
  readonly isError: boolean;
  readonly skipped?: Skipped | undefined;
  readonly ms?: number | undefined;
}

interface Finished extends Answer {
  readonly notes: readonly string[];
  readonly stop: string | undefined;
}

async function runCall(call: ToolCallItem, writer: RunWriter, settings: BatchSettings): Promise<Finished> {
  const startedAt = settings.clock.now();
  const { policy } = settings;
  if (policy.isSilentOnTools || !settings.tools.has(call.name)) {
    const outcome = await outcomeOf(call, call.input, writer, settings);
    const ms = settings.clock.now() - startedAt;
    return { output: outcome.output, isError: outcome.kind === "failed", ms, notes: [], stop: undefined };
  }
  const { callId, name, executedBy } = call;
  const verdict = await policy.checkCall({ callId, name, input: call.input, executedBy });
  if (verdict.kind === "denied") return { ...deny(verdict.reason), notes: verdict.notes, stop: verdict.stop };
  // What was allowed is exactly this, once: a change behind the decision's back is a denial.
  if (!verdict.grant.redeem(verdict.input)) {
    return { ...deny("The arguments are not the ones that were allowed."), notes: verdict.notes, stop: verdict.stop };
  }
  const outcome = await outcomeOf(call, verdict.input, writer, settings);
  const isError = outcome.kind === "failed";
  const checked = { callId, name, executedBy, input: verdict.input };
  const result = await policy.checkResult(checked, { output: outcome.output, isError });
  return {
    output: result.output,
    isError: result.isError,
    ms: settings.clock.now() - startedAt,
    notes: [...verdict.notes, ...result.notes],
    stop: verdict.stop ?? result.stop,
  };
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
    signal: writer.latch.signal,
    clock: settings.clock,
    timeoutMs: settings.toolMs,
    onProgress: (state) =>
      void writer.write([noticeItem("tool-progress", { callId: call.callId, name: call.name, state })], settings.agent),
  });
}
