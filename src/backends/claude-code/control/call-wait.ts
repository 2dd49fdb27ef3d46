import type { ClaudeCodeAdapter } from "#dialects";
import type { Chunk, Clock } from "#domain";
import { createDeferred, type Deferred, followSignal } from "#streams";
import { isRecord, type JsonRecord, ownRecord, ownString } from "#wire";
import { callIdOf } from "./own-tools.ts";

/**
 * How long a call is held until its message ends. The CLI asks about a call as soon as its block is complete; the rest
 * of the message follows at once, unless the model has much more to write or has stalled.
 */
export const MESSAGE_REST_MS = 1000;

/**
 * Delays requests about a call until the call is emitted, so that everything about it comes after it. The CLI does not
 * wait for our answer before it continues with the message; if it did, the delay would still be bounded.
 */
export class CallWait {
  private readonly _clock: Clock;
  private readonly _calls: Pick<ClaudeCodeAdapter, "isWaiting">;
  private readonly _emitNow: (callId: string) => void;
  private readonly _waiting = new Map<string, Deferred<void>>();

  /** `emitNow` emits the message of a call as far as it is written, and the call. */
  constructor(clock: Clock, calls: Pick<ClaudeCodeAdapter, "isWaiting">, emitNow: (callId: string) => void) {
    this._clock = clock;
    this._calls = calls;
    this._emitNow = emitNow;
  }

  /** `undefined`: no delay is needed. Resolves when the call is emitted, or the request is cancelled. */
  before(request: JsonRecord, signal: AbortSignal): Promise<void> | undefined {
    const callId = callOf(request);
    return callId === undefined || !this._calls.isWaiting(callId) ? undefined : this._wait(callId, signal);
  }

  /** Records which calls were emitted. */
  note(chunks: readonly Chunk[]): void {
    if (this._waiting.size === 0) return;
    for (const chunk of chunks) if (chunk.type === "tool-call") this._waiting.get(chunk.callId)?.resolve();
  }

  private async _wait(callId: string, signal: AbortSignal): Promise<void> {
    const emitted = this._waiting.get(callId) ?? createDeferred<void>();
    this._waiting.set(callId, emitted);
    const stopClock = this._clock.after(MESSAGE_REST_MS, () => {
      this._emitNow(callId);
      emitted.resolve();
    });
    const unfollow = followSignal(signal, () => emitted.resolve());
    await emitted.promise;
    stopClock();
    unfollow();
    if (this._waiting.get(callId) === emitted) this._waiting.delete(callId);
  }
}

/** The call that a request is about. */
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
