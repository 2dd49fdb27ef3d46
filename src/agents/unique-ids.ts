import type { Block, Chunk } from "#domain";

/** Makes the ids of one run's messages and calls differ, whatever its hosts call them. */
export interface UniqueIds {
  /** A renamer for one reply. It changes chunks that nobody has numbered yet, and only where an id was used before. */
  forReply(): (chunk: Chunk) => void;
}

/**
 * Creates the ids of one run. Vendors' ids are unique over their whole service; hosts that imitate them are known to
 * call every reply `chatcmpl-1` and every first call `call_0`, and readers replace messages and pair results by id.
 */
export function createUniqueIds(): UniqueIds {
  const messages = new Set<string>();
  const calls = new Set<string>();
  return {
    forReply() {
      const messageId = createRenamer(messages);
      const callId = createRenamer(calls);
      return (chunk) => rename(chunk, messageId, callId);
    },
  };
}

type Renamer = (id: string) => string;

function createRenamer(used: Set<string>): Renamer {
  const names = new Map<string, string>();
  // Deltas come in long rows of one message: the last answer is nearly always the next one.
  let last = "";
  let lastName = "";
  return (id) => {
    if (id === last) return lastName;
    let name = names.get(id);
    if (name === undefined) {
      name = id;
      for (let times = 2; used.has(name); times += 1) name = `${id}-${times}`;
      used.add(name);
      names.set(id, name);
    }
    last = id;
    lastName = name;
    return name;
  };
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

function rename(chunk: Chunk, messageId: Renamer, callId: Renamer): void {
  switch (chunk.type) {
    case "text-delta":
    case "thinking-delta": {
      const name = messageId(chunk.messageId);
      if (name !== chunk.messageId) (chunk as Writable<typeof chunk>).messageId = name;
      return;
    }
    case "tool-input-delta": {
      const delta = chunk as Writable<typeof chunk>;
      delta.messageId = messageId(chunk.messageId);
      delta.callId = callId(chunk.callId);
      return;
    }
    case "message": {
      const message = chunk as Writable<typeof chunk>;
      message.id = messageId(chunk.id);
      if (chunk.blocks.some((block) => block.type === "tool-call" && callId(block.callId) !== block.callId)) {
        message.blocks = chunk.blocks.map(
          (block): Block => (block.type === "tool-call" ? { ...block, callId: callId(block.callId) } : block),
        );
      }
      return;
    }
    case "tool-call":
    case "tool-result":
      (chunk as Writable<typeof chunk>).callId = callId(chunk.callId);
      return;
    case "notice":
      if (chunk.kind === "retract") {
        const data = chunk.data as { readonly messageId: string };
        (chunk as Writable<typeof chunk>).data = { ...data, messageId: messageId(data.messageId) };
      }
      return;
    default:
      return;
  }
}
