import {
  type ChunkOf,
  addUsage,
  type Block,
  mergeUsage,
  type MessageItem,
  messageItem,
  type StopReason,
  type TextDelta,
  textDelta,
  type ThinkingDelta,
  thinkingDelta,
  type Usage,
} from "#domain";
import { createRecentNames } from "./recent-names.ts";

/**
 * The assistant's message that is being written. Deltas and blocks have one source, so that the finished message equals
 * what was shown.
 */
export interface MessageWriter {
  /** Whether the next text belongs to another message than the open one, because its id differs. */
  isOther(id: string | undefined): boolean;
  /** Sets the id of the message, unless it has begun. */
  name(id: string | undefined): void;
  write(kind: "text" | "thinking", text: string): ChunkOf<TextDelta> | ChunkOf<ThinkingDelta>;
  add(block: Block): void;
  /** Records properties of the message; the last value wins. */
  note(known: {
    readonly usage?: Usage | undefined;
    readonly model?: string | undefined;
    readonly stopReason?: StopReason;
  }): void;
  /** The message as far as it is written, for a call that follows it. It stays open. */
  emit(): ChunkOf<MessageItem>;
  /** The finished message; `undefined` if nothing was written at all, or nothing since `emit`. */
  close(): ChunkOf<MessageItem> | undefined;
  /** A whole message of the user. */
  userMessage(id: string | undefined, text: string): ChunkOf<MessageItem>;
  /** The tokens of all messages closed since the last call, and counts that belong to no message. */
  takeUsage(): Usage;
  reset(): void;
}

/** A block whose text is still in parts: joining them once is linear, repeated concatenation is not. */
type OpenBlock = { readonly type: "text" | "thinking"; readonly parts: string[] };

export function createMessageWriter(): MessageWriter {
  const used = createRecentNames();
  let count = 0;
  let givenId: string | undefined;
  let id: string | undefined;
  let blocks: (Block | OpenBlock)[] = [];
  let stopReason: StopReason | undefined;
  let model: string | undefined;
  let usage: Usage = {};
  let total: Usage = {};
  let isNews = true;

  // Agents reuse a reply's id after tool calls; two messages with one id would replace each other.
  const claimId = (wanted: string | undefined): string => {
    count += 1;
    return used.claim(wanted ?? `message-${count}`);
  };

  const emit = (): ChunkOf<MessageItem> => {
    isNews = false;
    return messageItem({
      id: (id ??= claimId(givenId)),
      role: "assistant",
      blocks: blocks.map(finishBlock),
      ...(stopReason !== undefined && { stopReason }),
      ...(Object.keys(usage).length > 0 && { usage }),
      ...(model !== undefined && { model }),
    });
  };

  const close = (): ChunkOf<MessageItem> | undefined => {
    const finished = blocks.length > 0 && isNews ? emit() : undefined;
    if (blocks.length > 0) {
      total = addUsage(total, usage);
      usage = {};
    }
    blocks = [];
    id = givenId = stopReason = undefined;
    isNews = true;
    return finished;
  };

  return {
    isOther: (other) => other !== undefined && (blocks.length > 0 || givenId !== undefined) && other !== givenId,
    name(wanted) {
      if (wanted !== undefined && blocks.length === 0) givenId = wanted;
    },
    write(kind, text) {
      id ??= claimId(givenId);
      isNews = true;
      const last = blocks.at(-1);
      if (last !== undefined && last.type === kind && "parts" in last) last.parts.push(text);
      else blocks.push({ type: kind, parts: [text] });
      return kind === "text" ? textDelta(id, blocks.length - 1, text) : thinkingDelta(id, blocks.length - 1, text);
    },
    add(block) {
      isNews = true;
      blocks.push(block);
    },
    note(known) {
      const isSame = known.model === undefined || known.model === model;
      if (known.usage !== undefined || known.stopReason !== undefined || !isSame) isNews = true;
      if (known.usage !== undefined) usage = mergeUsage(usage, known.usage);
      model = known.model ?? model;
      stopReason = known.stopReason ?? stopReason;
    },
    emit,
    close,
    userMessage: (wanted, text) => messageItem({ id: claimId(wanted), role: "user", blocks: [{ type: "text", text }] }),
    takeUsage() {
      const taken = addUsage(total, usage);
      total = usage = {};
      return taken;
    },
    reset() {
      close();
      used.clear();
      count = 0;
      model = undefined;
      usage = total = {};
    },
  };
}

function finishBlock(block: Block | OpenBlock): Block {
  return "parts" in block ? { type: block.type, text: block.parts.join("") } : block;
}
