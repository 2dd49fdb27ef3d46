import type { Chunk, Raw, ToolCallItem } from "#domain";
import type { SubStream, WaitingCalls } from "./sub-stream.ts";

/**
 * The calls of messages that are still being written. A `tool-call` stands behind its `message`, and what is told about
 * a call stands behind its `tool-call`; the CLI runs a tool as soon as its block is complete.
 */
export interface CallQueue {
  add(lane: SubStream, waiting: WaitingCalls, call: ToolCallItem): void;
  /** Where to put what is about a call: behind it while it waits, else in `out`. */
  behind(callId: string | undefined, out: Chunk[]): Chunk[];
  /** The message is told: so are its calls, and what was held about them. */
  tell(waiting: WaitingCalls, out: Chunk[]): void;
  find(callId: string): { readonly lane: SubStream; readonly waiting: WaitingCalls } | undefined;
  /** Gives what waits the frame it came from, as nobody could tell later. */
  keepRaw(raw: () => Raw): void;
}

/** So much is held about the calls of one message; then it is told as far as it is written. */
export const MAX_ABOUT = 256;

/** Creates the queue of one stream. */
export function createCallQueue(): CallQueue {
  const places = new Map<string, { readonly lane: SubStream; readonly waiting: WaitingCalls }>();
  return {
    add(lane, waiting, call) {
      waiting.calls.push(call);
      places.set(call.callId, { lane, waiting });
    },
    behind(callId, out) {
      if (places.size === 0 || callId === undefined) return out;
      return places.get(callId)?.waiting.about ?? out;
    },
    tell(waiting, out) {
      if (waiting.calls.length === 0) return;
      for (const { callId } of waiting.calls) places.delete(callId);
      out.push(...waiting.calls.splice(0), ...waiting.about.splice(0));
    },
    find: (callId) => places.get(callId),
    keepRaw(raw) {
      if (places.size === 0) return;
      for (const { waiting } of places.values()) {
        for (const chunk of [...waiting.calls, ...waiting.about]) {
          // A chunk is not an event yet, so it may still be completed.
          if (chunk.raw === undefined) (chunk as { raw?: Raw }).raw = raw();
        }
      }
    },
  };
}
