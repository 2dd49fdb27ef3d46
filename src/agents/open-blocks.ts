import { type Block, createTextPile, type DeltaEvent, type Message, type TextPile } from "#domain";

interface OpenBlock {
  readonly type: DeltaEvent["type"];
  readonly written: TextPile;
}

/** What deltas have shown of messages that are not finished. */
export interface OpenBlocks {
  add(delta: DeltaEvent): void;
  /** The message is finished: its item is the truth now. */
  close(messageId: string): void;
  retract(messageId: string, fromIndex: number): void;
  /** The unfinished messages of the main conversation, with what is worth keeping of them. */
  messages(): Message[];
}

/** Creates the memory of unfinished blocks for one run. */
export function createOpenBlocks(): OpenBlocks {
  const open = new Map<string, Map<number, OpenBlock>>();
  // Deltas come in long rows of the same block; the row's block is remembered so that most cost one comparison.
  let rowMessage: string | undefined;
  let rowIndex = -1;
  let row: OpenBlock | undefined;

  const forgetRow = (): void => {
    rowMessage = undefined;
    row = undefined;
  };

  const find = (delta: DeltaEvent): OpenBlock => {
    let blocks = open.get(delta.messageId);
    if (blocks === undefined) {
      blocks = new Map();
      open.set(delta.messageId, blocks);
    }
    let block = blocks.get(delta.index);
    if (block === undefined) {
      block = { type: delta.type, written: createTextPile() };
      blocks.set(delta.index, block);
    }
    return block;
  };

  return {
    add(delta) {
      if (delta.parent !== undefined) return;
      if (row === undefined || rowMessage !== delta.messageId || rowIndex !== delta.index) {
        row = find(delta);
        rowMessage = delta.messageId;
        rowIndex = delta.index;
      }
      row.written.add(delta.type === "tool-input-delta" ? delta.json : delta.text);
    },
    close(messageId) {
      open.delete(messageId);
      forgetRow();
    },
    retract(messageId, fromIndex) {
      forgetRow();
      const blocks = open.get(messageId);
      if (blocks === undefined) return;
      for (const index of [...blocks.keys()]) if (index >= fromIndex) blocks.delete(index);
      if (blocks.size === 0) open.delete(messageId);
    },
    messages() {
      const messages: Message[] = [];
      for (const [id, blocks] of open) {
        const kept = [...blocks]
          .sort(([left], [right]) => left - right)
          .flatMap(([, block]): Block[] => asBlock(block));
        if (kept.length > 0) messages.push({ id, role: "assistant", blocks: kept });
      }
      return messages;
    },
  };
}

/** Half a tool call is nothing that may be kept as one; half a text is still what the model said. */
function asBlock(block: OpenBlock): Block[] {
  if (block.type === "tool-input-delta") return [];
  return [{ type: block.type === "text-delta" ? "text" : "thinking", text: block.written.text() }];
}
