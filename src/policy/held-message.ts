import {
  type ChunkOf,
  type Chunk,
  type TextDelta,
  textDelta,
  TextBuilder,
  type ThinkingDelta,
  thinkingDelta,
} from "#domain";

export type WordDelta = ChunkOf<TextDelta> | ChunkOf<ThinkingDelta>;

/** An entry of the output queue. A held entry is waiting for guards, and everything after it waits too. */
export interface Slot {
  chunks: Chunk[];
  isHeld: boolean;
  /** The message and the block that its deltas belong to; `undefined` and -1 for chunks that are not deltas. */
  readonly messageId: string | undefined;
  readonly index: number;
}

/** A text or thinking block of an unfinished message. */
export interface HeldBlock {
  readonly type: WordDelta["type"];
  /** The text received, and the text that was released or may be released. */
  readonly came: TextBuilder;
  readonly passed: TextBuilder;
  /** The slots that are still held, in order, and the number of characters in them. */
  held: Slot[];
  heldCharacters: number;
}

/** An unfinished message. */
export interface HeldMessage {
  readonly id: string;
  readonly parent: string | undefined;
  readonly blocks: Map<number, HeldBlock>;
  /** `window`: the end of the released text, per type. */
  readonly before: { [Type in WordDelta["type"]]: string };
  /** The block of the last text delta. */
  current: number | undefined;
  /** Dropped while guards were checking it: their verdict no longer matters. */
  isDropped: boolean;
}

export function openHeldMessage(id: string, parent: string | undefined): HeldMessage {
  return {
    id,
    parent,
    blocks: new Map(),
    before: { "text-delta": "", "thinking-delta": "" },
    current: undefined,
    isDropped: false,
  };
}

/** The block of a delta, created if needed. */
export function blockOf(message: HeldMessage, delta: WordDelta): HeldBlock {
  let block = message.blocks.get(delta.index);
  if (block === undefined) {
    block = { type: delta.type, came: new TextBuilder(), passed: new TextBuilder(), held: [], heldCharacters: 0 };
    message.blocks.set(delta.index, block);
  }
  return block;
}

/** The text of a block that is still held. */
export function heldText(block: HeldBlock): string {
  const text = new TextBuilder();
  for (const slot of block.held) for (const chunk of slot.chunks) text.add((chunk as WordDelta).text);
  return text.text();
}

/** Releases held text: unchanged, or replaced by `text` in a single delta at the position of the first. */
export function letGo(message: HeldMessage, index: number, text: string | undefined): void {
  const block = message.blocks.get(index);
  if (block === undefined) return;
  for (const [at, slot] of block.held.entries()) {
    if (text !== undefined) slot.chunks = at === 0 && text !== "" ? [wordDelta(message, index, block.type, text)] : [];
    slot.isHeld = false;
  }
  block.held = [];
  block.heldCharacters = 0;
}

export function wordDelta(message: HeldMessage, index: number, type: WordDelta["type"], text: string): WordDelta {
  const make = type === "text-delta" ? textDelta : thinkingDelta;
  return make(message.id, index, text, message.parent);
}
