import type { Chunk, ChunkOf, Raw, ToolCallItem } from "#domain";
import type { SubStream, WaitingCalls } from "./sub-stream.ts";

/**
 * The calls of messages that are still being written. A `tool-call` follows its `message`, and whatever concerns a call
 * follows its `tool-call`; but the CLI runs a tool as soon as its block is complete.
 */
export interface CallQueue {
  add(subStream: SubStream, waiting: WaitingCalls, call: ChunkOf<ToolCallItem>): void;
  /** The list for a chunk about a call: after the call while it is held, else `out`. */
  listFor(callId: string | undefined, out: Chunk[]): Chunk[];
  /** The message was emitted: emits its calls and what was held about them. */
  emit(waiting: WaitingCalls, out: Chunk[]): void;
  find(callId: string): { readonly subStream: SubStream; readonly waiting: WaitingCalls } | undefined;
  /** Attaches the current frame to held chunks; later it would be unknown. */
  keepRaw(raw: () => Raw): void;
}

/** The most chunks held about the calls of one message; beyond that the message is emitted as far as it is written. */
export const MAX_ABOUT = 256;

export function createCallQueue(): CallQueue {
  const places = new Map<string, { readonly subStream: SubStream; readonly waiting: WaitingCalls }>();
  return {
    add(subStream, waiting, call) {
      waiting.calls.push(call);
      places.set(call.callId, { subStream, waiting });
    },
    listFor(callId, out) {
      if (places.size === 0 || callId === undefined) return out;
      return places.get(callId)?.waiting.about ?? out;
    },
    emit(waiting, out) {
      if (waiting.calls.length === 0) return;
      for (const { callId } of waiting.calls) places.delete(callId);
      out.push(...waiting.calls.splice(0), ...waiting.about.splice(0));
    },
    find: (callId) => places.get(callId),
    keepRaw(raw) {
      if (places.size === 0) return;
      for (const { waiting } of places.values()) {
        addRaw(waiting.calls, raw);
        addRaw(waiting.about, raw);
      }
    },
  };
}

function addRaw<Kind extends Chunk>(chunks: Kind[], raw: () => Raw): void {
  for (const [at, chunk] of chunks.entries()) if (chunk.raw === undefined) chunks[at] = { ...chunk, raw: raw() };
}
