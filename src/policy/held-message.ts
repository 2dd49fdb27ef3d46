import { type Chunk, type TextDelta, textDelta, TextBuilder, type ThinkingDelta, thinkingDelta } from "#domain";

export type WordDelta = TextDelta | ThinkingDelta;

/** A place in the order of what comes out. Held: it waits for guards, and everything behind it waits too. */
export interface Slot {
  chunks: Chunk[];
  isHeld: boolean;
  /** The message and the block its deltas belong to; what is no delta has none. */
  readonly messageId: string | undefined;
  readonly index: number;
}

/** A text or thinking block of a message that is being written. */
export interface HeldBlock {
  readonly type: WordDelta["type"];
  /** What came in, and what went out or may go out. */
  readonly came: TextBuilder;
  readonly passed: TextBuilder;
  /** The slots that are still held, in order, with the number of characters in them. */
  held: Slot[];
  heldCharacters: number;
}

/** A message that is being written. */
export interface HeldMessage {
  readonly id: string;
  readonly parent: string | undefined;
  readonly blocks: Map<number, HeldBlock>;
  /** `window`: the end of what went out, per type. */
  readonly before: { [Type in WordDelta["type"]]: string };
  /** The block the last delta of text belonged to. */
  current: number | undefined;
  /** Given up while guards were looking: what they say no longer matters. */
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

/** The block a delta belongs to, opened if need be. */
export function blockOf(message: HeldMessage, delta: WordDelta): HeldBlock {
  let block = message.blocks.get(delta.index);
  if (block === undefined) {
    block = { type: delta.type, came: new TextBuilder(), passed: new TextBuilder(), held: [], heldCharacters: 0 };
    message.blocks.set(delta.index, block);
  }
  return block;
}

/** The text that is held of a block. */
export function heldText(block: HeldBlock): string {
  const pile = new TextBuilder();
  for (const slot of block.held) for (const chunk of slot.chunks) pile.add((chunk as WordDelta).text);
  return pile.text();
}

/** Lets held text go: as it came, or with `text` in its place, in one delta where the first stood. */
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
