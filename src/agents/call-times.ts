import { type Clock, elapsedSince, type ToolResultItem } from "#domain";
import type { RunPolicy } from "#policy";

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** How long the calls of an agent backend waited, and how long those of our own tools took. The backend does not know. */
export class CallTimes {
  private readonly _clock: Clock;
  private readonly _waited = new Map<string, number>();
  private readonly _ran = new Map<string, number>();

  constructor(clock: Clock) {
    this._clock = clock;
  }

  /** The same policy; the time its decision about a call takes is noted. */
  watch(policy: RunPolicy): RunPolicy {
    if (policy.isSilentOnTools) return policy;
    const checkCall: RunPolicy["checkCall"] = (call) => this.waiting(call.callId, policy.checkCall(call));
    return Object.assign(Object.create(policy) as RunPolicy, { checkCall });
  }

  /** Notes how long something takes that a call waits for. */
  async waiting<Value>(callId: string, wait: Promise<Value>): Promise<Value> {
    const since = this._clock.now();
    try {
      return await wait;
    } finally {
      this._waited.set(callId, (this._waited.get(callId) ?? 0) + elapsedSince(this._clock, since));
    }
  }

  /** Notes how long the tool itself takes. */
  async running<Value>(callId: string, work: Promise<Value>): Promise<Value> {
    const since = this._clock.now();
    try {
      return await work;
    } finally {
      this._ran.set(callId, elapsedSince(this._clock, since));
    }
  }

  /** Completes a result that is not an event yet. */
  complete(result: ToolResultItem): void {
    const { callId } = result;
    const writable = result as Writable<ToolResultItem>;
    const ms = this._ran.get(callId);
    if (ms !== undefined) writable.ms = ms;
    const waitedMs = this._waited.get(callId) ?? 0;
    if (waitedMs > 0 && result.skipped === undefined) writable.waitedMs = waitedMs;
    this._ran.delete(callId);
    this._waited.delete(callId);
  }
}
