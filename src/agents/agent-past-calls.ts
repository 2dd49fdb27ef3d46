import { type Chunk, type Skipped, toolCallItem, toolResultItem } from "#domain";
import { AgentTools } from "./agent-tools.ts";
import { CallTimes } from "./call-times.ts";
import type { AgentLeg, LegWork } from "./leg.ts";
import { awaitParked } from "./parked-call.ts";
import { INCOMPLETE, mayRunAgain, NOT_BEGUN } from "./past-calls.ts";
import type { PastCall } from "./past-run.ts";

/** What became of the calls that an agent's process had left open. */
export interface EndedCalls {
  /** What the agent is told when it continues. */
  readonly continuation: string;
  /** The reason, if a hook ends the run. */
  readonly stop: string | undefined;
}

/** A call that has a result now, and not because its process ended. */
interface Finished {
  readonly output: unknown;
  readonly isError: boolean;
  readonly skipped?: Skipped;
}

/**
 * Answers the calls that an agent's process had left open: with the results that parked calls wait for, by running those
 * of idempotent tools again, and otherwise with what is known of them. The agent is not started before. Returns
 * `undefined` if the run has to end.
 */
export async function endCalls(
  open: readonly PastCall[],
  leg: AgentLeg,
  work: LegWork,
): Promise<EndedCalls | undefined> {
  const past = new PastAgentCalls(leg, work);
  const finished = await Promise.all(open.map((call) => past.finish(call)));
  if (work.writer.signal.aborted) return undefined;
  const chunks = open.flatMap((call, at) => past.answer(call, finished[at]));
  await work.writer.write(chunks, leg.agent);
  const lines = open.map((call, at) => past.describe(call, finished[at]));
  return { continuation: continuation([...lines, ...past.notes]), stop: past.stop };
}

class PastAgentCalls {
  readonly notes: string[] = [];
  stop: string | undefined;
  private readonly _leg: AgentLeg;
  private readonly _work: LegWork;
  private readonly _tools: AgentTools;

  constructor(leg: AgentLeg, work: LegWork) {
    this._leg = leg;
    this._work = work;
    this._tools = new AgentTools(leg, work, new CallTimes(work.clock));
  }

  /** Waits for the result of a parked call, or runs a call again whose tool allows that. */
  async finish(call: PastCall): Promise<Finished | undefined> {
    const outcome = await (call.state === "parked" ? this._await(call) : this._runAgain(call));
    if (outcome === undefined || "skipped" in outcome || this._work.policy.isSilentOnTools) return outcome;
    const { callId, name, input } = call;
    const { policy } = this._work;
    const checked = await policy.checkResult({ callId, name, input, executedBy: "millrace" }, outcome);
    this.notes.push(...checked.notes);
    this.stop ??= checked.stop;
    return { output: checked.output, isError: checked.isError };
  }

  private async _await(call: PastCall): Promise<Finished | undefined> {
    if (call.parked === undefined) return undefined;
    const { until, output } = call.parked;
    const outcome = await awaitParked(call, { kind: "parked", until, output }, this._work);
    return outcome && { output: outcome.output, isError: outcome.kind === "failed" };
  }

  private async _runAgain(call: PastCall): Promise<Finished | undefined> {
    if (call.state !== "begun" || !mayRunAgain(call, this._leg.tools)) return undefined;
    const { callId, name } = call;
    const { writer, policy } = this._work;
    let { input } = call;
    if (!policy.isSilentOnTools && call.isAllowed !== true) {
      const verdict = await policy.checkCall({ callId, name, input, executedBy: "millrace" });
      this.notes.push(...verdict.notes);
      this.stop ??= verdict.stop;
      if (verdict.kind === "denied" || !verdict.grant.redeem(verdict.input)) {
        const output = verdict.kind === "denied" ? verdict.reason : "The permission was used before.";
        return { output, isError: true, skipped: "denied" };
      }
      input = verdict.input;
    }
    this._tools.announces(callId);
    const outcome = await this._tools.run({ callId, name, input }, (chunks) => writer.write(chunks, this._leg.agent));
    return { output: outcome.output, isError: outcome.kind === "failed" };
  }

  /** The agent's own tools may have run, whatever is in the log: only the agent knows. */
  answer(call: PastCall, finished: Finished | undefined): readonly Chunk[] {
    const { callId, name, input, state, reason } = call;
    const executedBy = this._isOurs(call) ? "millrace" : "backend";
    const announced = state === "not-begun" ? [toolCallItem({ callId, name, input, executedBy })] : [];
    if (finished !== undefined) return [toolResultItem({ callId, name, ...finished })];
    const isDenied = state === "denied";
    const output = isDenied ? (reason ?? "The call was denied.") : this._whyIncomplete(call);
    const skipped = isDenied ? "denied" : "incomplete";
    return [...announced, toolResultItem({ callId, name, output, isError: true, skipped })];
  }

  private _whyIncomplete(call: PastCall): string {
    if (call.state === "asked") return UNANSWERED;
    return this._hasNotBegun(call) ? NOT_BEGUN : INCOMPLETE;
  }

  describe(call: PastCall, finished: Finished | undefined): string {
    const { name, input, state } = call;
    const what = `- ${name} ${JSON.stringify(input)}`;
    if (finished !== undefined && finished.skipped === undefined) {
      return `${what}: has finished with ${JSON.stringify(finished.output)}`;
    }
    const didNotRun = finished !== undefined || state === "asked" || state === "denied" || this._hasNotBegun(call);
    return didNotRun ? `${what}: did not run` : `${what}: may have run, in full or in part`;
  }

  /** No tool of ours starts before its call is stored. */
  private _hasNotBegun(call: PastCall): boolean {
    return call.state === "not-begun" && this._isOurs(call);
  }

  private _isOurs({ name }: PastCall): boolean {
    return this._leg.tools.some((tool) => tool.name === name);
  }
}

const UNANSWERED =
  "The process that asked for permission ended before there was an answer. The agent asks again if it still needs the call.";

function continuation(lines: readonly string[]): string {
  const calls =
    lines.length === 0
      ? []
      : ["You did not get the results of these tool calls. Check before you repeat one that may have run:", ...lines];
  return ["Your process ended before you had finished. Continue with the task from where you were.", ...calls].join(
    "\n",
  );
}
