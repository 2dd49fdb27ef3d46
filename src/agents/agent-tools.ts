import type { AgentLink } from "#backends";
import { toolCallItem } from "#domain";
import { mayTakeEffect } from "#run";
import { runTool, type SettledOutcome, type Tool, ToolPlaces } from "#tools";
import type { CallTimes } from "./call-times.ts";
import { changedHandoff, HANDOFF_TOOL, readHandoff } from "./handoff.ts";
import type { AgentLeg, LegWork } from "./leg.ts";
import { awaitParked, parkedNotice } from "./parked-call.ts";
import { stateNotice } from "./state-notice.ts";

type Call = Parameters<AgentLink["runTool"]>[0];

const ENDED = { kind: "failed", why: "aborted", output: "Not run: the run has ended." } as const;

/** Runs our tools for an agent, and takes its handoff. After a handoff no tool runs. */
export class AgentTools {
  private readonly _leg: AgentLeg;
  private readonly _work: LegWork;
  private readonly _times: CallTimes;
  private readonly _tools: ReadonlyMap<string, Tool>;
  private readonly _places: ToolPlaces;
  private readonly _announced = new Set<string>();
  /** Calls that the agent asked for before it had announced them. */
  private readonly _unannounced = new Set<string>();
  private _handoff: { readonly to: string; readonly message: string; readonly callId: string } | undefined;

  constructor(leg: AgentLeg, work: LegWork, times: CallTimes) {
    this._leg = leg;
    this._work = work;
    this._times = times;
    this._tools = new Map(leg.tools.map((tool) => [tool.name, tool]));
    this._places = new ToolPlaces(leg.toolConcurrency);
  }

  get handoff(): { readonly to: string; readonly message: string; readonly callId: string } | undefined {
    return this._handoff;
  }

  /** Whether the announcement of a call is shown: not if it comes late. */
  announces(callId: string): boolean {
    this._announced.add(callId);
    return !this._unannounced.delete(callId);
  }

  /**
   * Writes the call if the agent has not announced it: a decision about a call follows the call, and no tool starts before
   * its call is stored.
   */
  async announce({ callId, name, input }: Call, write: AgentLink["write"]): Promise<void> {
    if (this._announced.has(callId)) return;
    await write([toolCallItem({ callId, name, input, executedBy: "millrace" })]);
    this._unannounced.add(callId);
  }

  /** Runs a call that the policy allowed. `write` writes what the tool reports meanwhile. */
  async run(call: Call, write: AgentLink["write"]): Promise<SettledOutcome> {
    await this.announce(call, write);
    const { writer, clock, nextTurn, context } = this._work;
    if (this._handoff !== undefined) {
      const output = `Not run: the conversation had already been handed over to ${this._handoff.to}.`;
      return { kind: "failed", why: "aborted", output };
    }
    if (call.name === HANDOFF_TOOL && this._leg.handoffs !== undefined) return this._handOver(call, write);
    const tool = this._tools.get(call.name);
    if (tool === undefined) {
      return { kind: "failed", why: "unknown-tool", output: `There is no tool "${call.name}".` };
    }
    // The agent may also cancel a single call.
    const signal = call.signal ?? writer.signal;
    const leave = await this._times.waiting(call.callId, this._places.take(tool.sequential === true, signal));
    if (leave === undefined) return { kind: "failed", why: "aborted", output: "Not run: the call was cancelled." };
    const isStored = mayTakeEffect(writer);
    if (isStored !== true && !(await isStored)) {
      leave();
      return ENDED;
    }
    const running = runTool(tool, call.input, {
      callId: call.callId,
      runId: writer.runId,
      agent: this._leg.agent,
      context,
      outer: { leg: this._leg, work: this._work },
      signal,
      clock,
      nextTurn,
      timeoutMs: this._leg.limits.toolMs,
      onProgress: (state) => void write([stateNotice(call, state)]),
    });
    const outcome = await this._times.running(call.callId, running).finally(leave);
    if (outcome.kind !== "parked") return outcome;
    await write([parkedNotice(call, outcome)]);
    return (await awaitParked(call, outcome, { writer, clock })) ?? ENDED;
  }

  private async _handOver({ callId, input }: Call, write: AgentLink["write"]): Promise<SettledOutcome> {
    const wanted = readHandoff(input, this._leg.handoffs ?? []);
    if (!wanted.fits) return { kind: "failed", why: "invalid-input", output: wanted.problem };
    const from = this._leg.agent ?? "";
    const verdict = await this._work.policy.checkHandoff({ from, to: wanted.to, message: wanted.message });
    if (verdict.kind === "blocked") return { kind: "failed", why: "thrown", output: verdict.reason };
    this._handoff = { to: wanted.to, message: verdict.message, callId };
    await write(changedHandoff(callId, wanted, verdict.message));
    return { kind: "returned", output: `Handed over to ${wanted.to}. Say nothing more: your part is done.` };
  }
}
