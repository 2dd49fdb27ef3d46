/** Remembers which blocks of which messages have been shown: each may come as deltas, as a whole, or as both. */
export interface ShownBlocks {
  /** Notes a block; whether it is new. */
  add(messageId: string, index: number): boolean;
  /** A message was made void from a block on; whether anything of that had been shown. */
  forget(messageId: string, fromIndex: number): boolean;
}

/** Messages that are remembered: one that is far behind does not come again. */
const MAX_MESSAGES = 1024;

export function createShownBlocks(): ShownBlocks {
  const messages = new Map<string, Set<number>>();
  // Deltas of one block follow each other, and they are the hot path.
  let lastId: string | undefined;
  let lastIndex = -1;

  const add = (messageId: string, index: number): boolean => {
    let blocks = messages.get(messageId);
    if (blocks === undefined) {
      blocks = new Set();
      messages.set(messageId, blocks);
      const [oldest] = messages.keys();
      if (messages.size > MAX_MESSAGES && oldest !== undefined) messages.delete(oldest);
    }
    if (blocks.has(index)) return false;
    blocks.add(index);
    return true;
  };

  return {
    add(messageId, index) {
      if (messageId === lastId && index === lastIndex) return false;
      lastId = messageId;
      lastIndex = index;
      return add(messageId, index);
    },
    forget(messageId, fromIndex) {
      lastId = undefined;
      const blocks = messages.get(messageId);
      const void_ = [...(blocks ?? [])].filter((index) => index >= fromIndex);
      for (const index of void_) blocks?.delete(index);
      return void_.length > 0;
    },
  };
}
