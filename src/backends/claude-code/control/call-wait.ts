import type { Chunk, Clock } from "#domain";
import { createDeferred, type Deferred, followSignal } from "#streams";
import { isRecord, type JsonRecord, ownRecord, ownString } from "#wire";
import { callIdOf } from "./own-tools.ts";

/**
 * How long a call waits for the end of its message. The CLI asks about a call as soon as its block is complete; the rest
 * of the message follows at once, unless the model has much more to write or has fallen silent.
 */
export const MESSAGE_REST_MS = 1000;

/** The messages of which calls wait to be told. */
export interface TellingCalls {
  isWaiting(callId: string): boolean;
  /** Tells the message of a call as far as it is written, and the call. */
  tellNow(callId: string): void;
}

/**
 * Has requests about a call wait until the call is told, so that everything that is told about it stands behind it. The
 * CLI does not wait for our answer before it goes on with the message; should one do so, it waits a bounded time.
 */
export class CallWait {
  private readonly _clock: Clock;
  private readonly _calls: TellingCalls;
  private readonly _waiting = new Map<string, Deferred<void>>();

  constructor(clock: Clock, calls: TellingCalls) {
    this._clock = clock;
    this._calls = calls;
  }

  /** `undefined`: the request need not wait. Resolves when the call is told, or the request was taken back. */
  before(request: JsonRecord, signal: AbortSignal): Promise<void> | undefined {
    const callId = callOf(request);
    return callId === undefined || !this._calls.isWaiting(callId) ? undefined : this._wait(callId, signal);
  }

  /** Looks which calls were told. */
  note(chunks: readonly Chunk[]): void {
    if (this._waiting.size === 0) return;
    for (const chunk of chunks) if (chunk.type === "tool-call") this._waiting.get(chunk.callId)?.resolve();
  }

  private async _wait(callId: string, signal: AbortSignal): Promise<void> {
    const told = this._waiting.get(callId) ?? createDeferred<void>();
    this._waiting.set(callId, told);
    const stopClock = this._clock.after(MESSAGE_REST_MS, () => {
      this._calls.tellNow(callId);
      told.resolve();
    });
    const unfollow = followSignal(signal, () => told.resolve());
    await told.promise;
    stopClock();
    unfollow();
    if (this._waiting.get(callId) === told) this._waiting.delete(callId);
  }
}

/** The call a request is about. */
function callOf(request: JsonRecord): string | undefined {
  switch (ownString(request, "subtype")) {
    case "hook_callback":
      return ownString(ownRecord(request, "input") ?? {}, "tool_use_id") ?? ownString(request, "tool_use_id");
    case "can_use_tool":
      return ownString(request, "tool_use_id");
    case "mcp_message": {
      const { message } = request;
      return isRecord(message) ? callIdOf(ownRecord(ownRecord(message, "params") ?? {}, "_meta") ?? {}) : undefined;
    }
    default:
      return undefined;
  }
}
