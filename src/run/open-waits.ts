import type { Decision } from "#policy";
import { createDeferred, type Deferred } from "#streams";

/** The result of a call that its tool has parked. */
export interface GivenResult {
  readonly output: unknown;
  readonly isError: boolean;
}

/** What a call waits for that no process of the run can provide: an answer of a person, a result, or a time. */
export interface Wait {
  readonly callId: string;
  readonly name: string;
  readonly for: "answer" | "result" | "time";
  /** For `time`: when the call goes on, in milliseconds since 1970. */
  readonly until?: number;
}

/** An answer that was stored while no process worked on the run. */
export interface GivenAnswer {
  readonly callId: string;
  readonly decision?: Decision | undefined;
  readonly result?: GivenResult | undefined;
}

interface Question extends Deferred<Decision> {
  isAnswered: boolean;
}

interface OpenResult extends Deferred<GivenResult | undefined> {
  readonly until: number | undefined;
}

/** What the calls of a run wait for. Created for the first wait, because most runs have none. */
export class OpenWaits {
  private readonly _questions = new Map<string, Question>();
  private readonly _results = new Map<string, OpenResult>();
  private readonly _given = new Map<string, GivenResult>();
  /** Opens a question when its event is published, because a listener may answer synchronously within the event. */
  ask(callId: string): Promise<Decision> {
    const known = this._questions.get(callId);
    if (known !== undefined) return known.promise;
    const question = { ...createDeferred<Decision>(), isAnswered: false };
    this._questions.set(callId, question);
    return question.promise;
  }

  /** An answer serves one question. Asking again needs another answer. */
  forget(callId: string): void {
    this._questions.delete(callId);
  }

  /** Closes a question after its decision. `answer` returns `false` from then on. */
  close(callId: string): void {
    const question = this._questions.get(callId);
    if (question !== undefined) question.isAnswered = true;
  }

  answer(callId: string, decision: Decision): boolean {
    const question = this._questions.get(callId);
    if (question === undefined || question.isAnswered) return false;
    question.isAnswered = true;
    question.resolve(decision);
    return true;
  }

  /** Opens the wait for a result when its notice is published, because the result may be given at once. */
  park(callId: string, until: number | undefined): void {
    if (!this._results.has(callId)) this._results.set(callId, { ...createDeferred<GivenResult | undefined>(), until });
  }

  /** Waits for the result of a parked call. Resolves to `undefined` when the run has to end. */
  async result(callId: string, until: number | undefined): Promise<GivenResult | undefined> {
    const given = this._given.get(callId);
    if (given !== undefined) return given;
    this.park(callId, until);
    return this._results.get(callId)?.promise;
  }

  /** Gives the result of a parked call. `false` if no call waits for one. */
  give(callId: string, result: GivenResult): boolean {
    const open = this._results.get(callId);
    if (open === undefined || this._given.has(callId)) return false;
    this._given.set(callId, result);
    open.resolve(result);
    return true;
  }

  /** Takes a result that was stored before this process began. */
  take(callId: string, result: GivenResult): void {
    this._given.set(callId, result);
  }

  /** What this call waits for; `undefined` if it does not wait. */
  waitOf(callId: string, name: string): Wait | undefined {
    const result = this._given.has(callId) ? undefined : this._results.get(callId);
    if (result?.until !== undefined) return { callId, name, for: "time", until: result.until };
    if (result !== undefined) return { callId, name, for: "result" };
    const question = this._questions.get(callId);
    return question === undefined || question.isAnswered ? undefined : { callId, name, for: "answer" };
  }

  /** Ends all waits: questions are denied. */
  end(reason: string): void {
    for (const question of this._questions.values()) question.resolve({ allow: false, reason });
    for (const open of this._results.values()) open.resolve(undefined);
    this._questions.clear();
    this._results.clear();
  }
}
