import { createRecentNames } from "./recent-names.ts";

/** Which tool calls of a stream wait for their result. */
export interface OpenCalls {
  /** Notes a call and gives its id, making one up when the stream gave none; `undefined` when the id was used before. */
  open(id: string | undefined, name: string): string | undefined;
  /**
   * The call a result answers, which is thereby settled. A result without an id answers the oldest waiting call (of
   * that name, when it has one). `undefined`: nobody waits for it.
   */
  settle(
    id: string | undefined,
    name: string | undefined,
  ): { readonly callId: string; readonly name: string } | undefined;
  reset(): void;
}

export function createCallLedger(): OpenCalls {
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
