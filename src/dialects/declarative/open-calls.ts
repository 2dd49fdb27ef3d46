import { createRecentNames } from "./recent-names.ts";

/** The tool calls of a stream that have no result yet. */
export interface OpenCalls {
  /** Records a call and returns its id, or a new id if the stream gave none; `undefined` if the id was used before. */
  open(id: string | undefined, name: string): string | undefined;
  /**
   * Settles and returns the call that a result answers. A result without an id answers the oldest open call (of that
   * name, if it has one). `undefined`: no call is open for it.
   */
  settle(
    id: string | undefined,
    name: string | undefined,
  ): { readonly callId: string; readonly name: string } | undefined;
  reset(): void;
}

export function createOpenCalls(): OpenCalls {
  const waiting = new Map<string, string>();
  const known = createRecentNames();
  let unnamed = 0;

  const oldest = (name: string | undefined): string | undefined => {
    for (const [callId, waitingName] of waiting) if (name === undefined || waitingName === name) return callId;
    return undefined;
  };

  return {
    open(id, name) {
      let callId = id;
      while (callId === undefined || (id === undefined && known.has(callId))) callId = `call-${(unnamed += 1)}`;
      if (known.has(callId) || waiting.has(callId)) return undefined;
      known.add(callId);
      waiting.set(callId, name);
      return callId;
    },
    settle(id, name) {
      const callId = id ?? oldest(name);
      if (callId === undefined) return undefined;
      const waitingName = waiting.get(callId);
      if (waitingName === undefined) return undefined;
      waiting.delete(callId);
      return { callId, name: waitingName };
    },
    reset() {
      waiting.clear();
      known.clear();
      unnamed = 0;
    },
  };
}
