import type { Chunk } from "#domain";
import {
  blockOf,
  type HeldBlock,
  type HeldMessage,
  letGo,
  openHeldMessage,
  type Slot,
  type WordDelta,
} from "./held-message.ts";

/** The output of one agent or sub-agent, in order. Each sub-agent has its own queue, so that none waits for another. */
export class OutputQueue {
  readonly messages = new Map<string, HeldMessage>();
  private readonly _parent: string | undefined;
  private readonly _slots: Slot[] = [];

  constructor(parent: string | undefined) {
    this._parent = parent;
  }

  open(messageId: string): HeldMessage {
    let message = this.messages.get(messageId);
    if (message === undefined) {
      message = openHeldMessage(messageId, this._parent);
      this.messages.set(messageId, message);
    }
    return message;
  }

  /** Appends a text delta and holds it. */
  hold(message: HeldMessage, delta: WordDelta): HeldBlock {
    const block = blockOf(message, delta);
    block.came.add(delta.text);
    block.heldCharacters += delta.text.length;
    const last = this._slots.at(-1);
    if (last !== undefined && last.isHeld && last === block.held.at(-1)) {
      last.chunks.push(delta);
      return block;
    }
    const slot: Slot = { chunks: [delta], isHeld: true, messageId: message.id, index: delta.index };
    this._slots.push(slot);
    block.held.push(slot);
    return block;
  }

  /** Appends a chunk that needs no check; it only keeps its place in the order. */
  queue(chunk: Chunk): void {
    const isInput = chunk.type === "tool-input-delta";
    const messageId = isInput ? chunk.messageId : undefined;
    this._slots.push({ chunks: [chunk], isHeld: false, messageId, index: isInput ? chunk.index : -1 });
  }

  /** Removes what is still queued of a message, from a block on. */
  drop(messageId: string, fromIndex = 0): void {
    const message = this.messages.get(messageId);
    for (const slot of this._slots) {
      if (slot.messageId === messageId && slot.index >= fromIndex) slot.chunks = [];
    }
    if (message === undefined) return;
    for (const index of [...message.blocks.keys()]) {
      if (index < fromIndex) continue;
      letGo(message, index, "");
      message.blocks.delete(index);
    }
    if (fromIndex > 0) return;
    message.isDropped = true;
    this.messages.delete(messageId);
  }

  dropAll(): void {
    for (const messageId of [...this.messages.keys()]) this.drop(messageId);
  }

  /** Moves all chunks up to the first held one into `out`. */
  release(out: Chunk[]): void {
    let free = 0;
    while (free < this._slots.length && this._slots[free]?.isHeld === false) free += 1;
    if (free === 0) return;
    for (const slot of this._slots.splice(0, free)) for (const chunk of slot.chunks) out.push(chunk);
  }

  get isEmpty(): boolean {
    return this._slots.length === 0;
  }
}
