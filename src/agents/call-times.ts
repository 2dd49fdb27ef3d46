import { type ChunkOf, type Clock, elapsedSince, type ToolResultItem } from "#domain";

/**
 * Measures how long the calls of an agent backend waited and how long our own tools took. The backend does not know
 * either.
 */
export class CallTimes {
  private readonly _clock: Clock;
  private readonly _waited = new Map<string, number>();
  private readonly _ran = new Map<string, number>();

  constructor(clock: Clock) {
    this._clock = clock;
  }

  /** Measures something that a call waits for. */
  async waiting<Value>(callId: string, wait: Promise<Value>): Promise<Value> {
    const since = this._clock.now();
    try {
      return await wait;
    } finally {
      this._waited.set(callId, (this._waited.get(callId) ?? 0) + elapsedSince(this._clock, since));
    }
  }

  /** Measures the tool itself. */
  async running<Value>(callId: string, work: Promise<Value>): Promise<Value> {
    const since = this._clock.now();
    try {
      return await work;
    } finally {
      this._ran.set(callId, elapsedSince(this._clock, since));
    }
  }

  /** Returns the result with the times of its call added. */
  complete(result: ChunkOf<ToolResultItem>): ChunkOf<ToolResultItem> {
    const { callId, skipped } = result;
    const ms = this._ran.get(callId);
    const waitedMs = this._waited.get(callId) ?? 0;
    this._ran.delete(callId);
    this._waited.delete(callId);
    const hasWaited = waitedMs > 0 && skipped === undefined;
    if (ms === undefined && !hasWaited) return result;
    return { ...result, ...(ms !== undefined && { ms }), ...(hasWaited && { waitedMs }) };
  }
}
