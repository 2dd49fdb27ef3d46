import { isRecord } from "./check.ts";
import type { ChunkOf } from "./chunk.ts";
import type { MessageItem, NoticeItem, Retraction, TextDelta, ThinkingDelta } from "./event.ts";
import type { Message } from "./message.ts";

const NOTHING: readonly never[] = [];

/** A piece of text or thinking that was not shown before. */
export interface TextPiece {
  readonly kind: "text" | "thinking";
  readonly index: number;
  readonly text: string;
}

/** The shown text that a retraction makes void. */
export interface Retracted {
  readonly messageId: string;
  readonly fromIndex?: number;
  readonly text: string;
  readonly thinking: string;
}

/**
 * Tracks what was shown of the main conversation's messages, so that text is emitted once: from deltas, and from a
 * finished `message` only what no delta contained. Events of sub-agents are ignored.
 */
export interface ShownText {
  read(event: ChunkOf<TextDelta | ThinkingDelta> | ChunkOf<MessageItem>): readonly TextPiece[];
  /** Applies a `retract` notice; `undefined` for any other notice, or if nothing of the message was shown. */
  retract(notice: ChunkOf<NoticeItem>): Retracted | undefined;
  /** Whether the message's item was read. */
  isFinished(messageId: string): boolean;
  /** The text shown so far of an unfinished message. */
  openText(messageId: string): string;
  /** What was shown of the messages that are not finished: text and thinking, never part of a tool call. */
  unfinished(): readonly Message[];
  /** All text so far, finished messages first. Only with `keepText`. */
  whole(kind: TextPiece["kind"]): string;
}

interface ShownBlock {
  readonly kind: TextPiece["kind"];
  text: string;
}

type OpenMessage = Map<number, ShownBlock>;

/** Creates the tracker for one run. Without `keepText`, a finished message keeps only the indices of its blocks. */
export function createShownText(options: { readonly keepText?: boolean } = {}): ShownText {
  const open = new Map<string, OpenMessage>();
  const finished = new Map<string, Set<number>>();
  const kept = new Map<string, Record<TextPiece["kind"], string>>();
  // Consecutive deltas mostly belong to one block: caching it makes most of them one comparison.
  let row: { readonly messageId: string; readonly index: number; readonly block: ShownBlock } | undefined;

  const readDelta = (event: ChunkOf<TextDelta | ThinkingDelta>): readonly TextPiece[] => {
    const { messageId, index, text } = event;
    if (text === "") return NOTHING;
    const kind = event.type === "text-delta" ? "text" : "thinking";
    if (row === undefined || row.index !== index || row.messageId !== messageId) {
      let blocks = open.get(messageId);
      if (blocks === undefined) open.set(messageId, (blocks = new Map()));
      let block = blocks.get(index);
      if (block === undefined) blocks.set(index, (block = { kind, text: "" }));
      row = { messageId, index, block };
    }
    row.block.text += text;
    return [{ kind, index, text }];
  };

  const readMessage = (item: ChunkOf<MessageItem>): readonly TextPiece[] => {
    const shown = open.get(item.id);
    const before = finished.get(item.id);
    const pieces: TextPiece[] = [];
    const indices = new Set<number>();
    const whole = { text: "", thinking: "" };
    item.blocks.forEach((block, index) => {
      if (block.type !== "text" && block.type !== "thinking") return;
      indices.add(index);
      whole[block.type] += block.text;
      const text = missing(block.text, shown?.get(index), before?.has(index) === true);
      if (text !== "") pieces.push({ kind: block.type, index, text });
    });
    row = undefined;
    open.delete(item.id);
    // The indices stay: the same message may be emitted again with a further block.
    finished.set(item.id, indices);
    if (options.keepText === true) kept.set(item.id, whole);
    return pieces;
  };

  return {
    read(event) {
      if (event.parent !== undefined) return NOTHING;
      if (event.type !== "message") return readDelta(event);
      return event.role === "assistant" ? readMessage(event) : NOTHING;
    },
    retract(notice) {
      const { messageId, fromIndex } = readRetraction(notice) ?? {};
      if (messageId === undefined) return undefined;
      row = undefined;
      const first = fromIndex ?? 0;
      const again = finished.get(messageId);
      if (again !== undefined) for (const index of [...again]) if (index >= first) again.delete(index);
      const blocks = open.get(messageId);
      if (blocks === undefined) return undefined;
      const voided = new Map([...blocks].filter(([index]) => index >= first));
      for (const index of voided.keys()) blocks.delete(index);
      if (blocks.size === 0) open.delete(messageId);
      return {
        messageId,
        ...(fromIndex !== undefined && { fromIndex }),
        text: join(voided, "text"),
        thinking: join(voided, "thinking"),
      };
    },
    isFinished: (messageId) => finished.has(messageId),
    openText: (messageId) => join(open.get(messageId), "text"),
    unfinished: () =>
      [...open].map(([id, blocks]) => ({
        id,
        role: "assistant",
        blocks: inOrder(blocks).map(({ kind, text }) => ({ type: kind, text })),
      })),
    whole(kind) {
      let text = "";
      for (const message of kept.values()) text += message[kind];
      // A finished message whose text is kept may be open again for a late block; its item will contain everything.
      for (const [id, blocks] of open) if (!kept.has(id)) text += join(blocks, kind);
      return text;
    },
  };
}

/** The retraction in a notice, or `undefined` if it is about something else. */
export function readRetraction(notice: ChunkOf<NoticeItem>): Retraction | undefined {
  if (notice.kind !== "retract" || !isRecord(notice.data)) return undefined;
  const { messageId, fromIndex } = notice.data;
  if (typeof messageId !== "string") return undefined;
  return typeof fromIndex === "number" ? { messageId, fromIndex } : { messageId };
}

/**
 * The part of a finished block that was not shown. A reader that missed deltas has seen the beginning of the block and
 * gets the rest; shown text that differs cannot be retracted here and stays.
 */
function missing(text: string, shown: ShownBlock | undefined, wasFinished: boolean): string {
  if (shown === undefined) return wasFinished ? "" : text;
  return text.length > shown.text.length && text.startsWith(shown.text) ? text.slice(shown.text.length) : "";
}

function join(blocks: OpenMessage | undefined, kind: TextPiece["kind"]): string {
  if (blocks === undefined) return "";
  let text = "";
  for (const block of inOrder(blocks)) if (block.kind === kind) text += block.text;
  return text;
}

function inOrder(blocks: OpenMessage): readonly ShownBlock[] {
  return [...blocks].sort(([left], [right]) => left - right).map(([, block]) => block);
}
