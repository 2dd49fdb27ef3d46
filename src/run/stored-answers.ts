import type { AgentEvent, PermissionItem } from "#domain";
import type { Decision } from "#policy";

type Asked = PermissionItem & Pick<AgentEvent, "agent">;

/**
 * The stored answers to the questions of a run, each of which counts for one call. A call that an agent makes again
 * in another process has another id there. So an answer that no decision has used stands for the next call of the
 * same agent with the same arguments. Everything is read from the events, so every process comes to the same end.
 */
export class StoredAnswers {
  /** By the id of the call that was asked about, or that an answer serves now. */
  private readonly _answers = new Map<string, Decision>();
  /** The calls that were asked about and not decided: id to what was asked. */
  private readonly _asked = new Map<string, string>();
  /** Unused answers to calls that are over. */
  private readonly _standing: { readonly call: string; readonly decision: Decision }[] = [];

  add(callId: string, decision: Decision): void {
    this._answers.set(callId, decision);
  }

  /** Notes a question, and returns its answer if there is one. */
  ask({ callId, agent, name, input }: Asked): Decision | undefined {
    const call = JSON.stringify([agent, name, input]);
    this._asked.set(callId, call);
    const at = this._answers.has(callId) ? -1 : this._standing.findIndex((one) => one.call === call);
    const [standing] = at === -1 ? [] : this._standing.splice(at, 1);
    if (standing !== undefined) this._answers.set(callId, standing.decision);
    return this._answers.get(callId);
  }

  /** The call was decided: its answer is used up. */
  decide(callId: string): void {
    this._answers.delete(callId);
    this._asked.delete(callId);
  }

  /** The call has a result. If it was never decided, its answer is left over. */
  end(callId: string): void {
    const call = this._asked.get(callId);
    const decision = this._answers.get(callId);
    if (call !== undefined && decision !== undefined) this._standing.push({ call, decision });
    this.decide(callId);
  }
}
