import {
  type ChunkOf,
  type Block,
  type Chunk,
  type MessageItem,
  messageItem,
  noticeItem,
  present,
  type Retraction,
  TextBuilder,
  unreachable,
} from "#domain";
import { ownValue } from "#wire";
import { isSameJson, writeJson } from "./json-text.ts";
import { asThinking } from "./message-fields.ts";
import { deltaOf, indexBlock, type OpenBlock, type OpenMessage, parseWritten } from "./message-stream.ts";

/**
 * Settles the final content of a block. If its deltas differ, they are corrected: with the missing rest, or by
 * retracting them and showing the block again. A block without deltas is shown whole, except a tool call's input, which
 * the call itself reports.
 */
export function settleBlock(message: OpenMessage, block: OpenBlock, truth: Block, out: Chunk[]): void {
  block.settled = truth;
  switch (truth.type) {
    case "text":
    case "thinking":
      return settleText(message, block, truth.text, out);
    case "tool-call":
      return settleInput(message, block, truth.input, out);
    default:
      // Such a block has no deltas.
      if (!isShown(block)) return;
      block.written = new TextBuilder();
      return showAnew(message, block.position, out);
  }
}

/** Removes the blocks that are not kept and retracts their deltas; later blocks move up and are shown again. */
export function dropBlocks(message: OpenMessage, isKept: (block: OpenBlock) => boolean, out: Chunk[]): void {
  const first = message.blocks.findIndex((block) => !isKept(block));
  if (first === -1) return;
  const wasSeen = message.blocks.some((block) => block.position >= first && isShown(block));
  message.blocks = message.blocks.filter(isKept);
  message.byVendorIndex.clear();
  message.byCallId.clear();
  for (const [position, block] of message.blocks.entries()) {
    block.position = position;
    indexBlock(message, block);
  }
  message.row = undefined;
  if (wasSeen) showAnew(message, first, out);
}

/** The content of a block according to its stream. A tool call's arguments that are not JSON stay text. */
export function blockAsStreamed(block: OpenBlock): Block {
  const written = block.written.text();
  switch (block.kind) {
    case "text":
      return { type: "text", text: written };
    case "thinking":
      return asThinking(written, block.signature);
    case "tool-call":
      return block.call === undefined
        ? { type: "unknown", raw: block.opening }
        : { type: "tool-call", ...block.call, input: inputAsStreamed(block, written) };
    case "other": {
      const parsed = written === "" ? undefined : parseWritten(block);
      // Server-side tools stream their input too. Spread defines own properties, so a `__proto__` key stays a key.
      const raw =
        parsed !== undefined && parsed.fault === undefined ? { ...block.opening, input: parsed.value } : block.opening;
      return { type: "unknown", raw };
    }
    default:
      return unreachable(block.kind);
  }
}

/** The finished message. It omits blocks that were never settled: drop them first. */
export function finishedMessage(message: OpenMessage): ChunkOf<MessageItem> {
  return messageItem({
    id: message.id,
    role: "assistant",
    blocks: message.blocks.flatMap((block) => block.settled ?? []),
    ...present({ stopReason: message.stopReason, vendorStopReason: message.vendorStopReason }),
    ...(Object.keys(message.usage).length > 0 && { usage: message.usage }),
    ...present({ model: message.model, parent: message.parent }),
  });
}

function inputAsStreamed(block: OpenBlock, written: string): unknown {
  // With a part missing, even valid JSON may not be what the model wrote: it stays text.
  if (block.hasGap) return written;
  if (written === "") return ownValue(block.opening, "input") ?? {};
  const parsed = parseWritten(block);
  return parsed.fault === undefined ? parsed.value : written;
}

function settleText(message: OpenMessage, block: OpenBlock, text: string, out: Chunk[]): void {
  const shown = block.written.text();
  block.written = new TextBuilder(text);
  if (text === shown) return;
  if (!text.startsWith(shown)) return showAnew(message, block.position, out);
  const rest = deltaOf(message, block, text.slice(shown.length));
  if (rest !== undefined) out.push(rest);
}

function settleInput(message: OpenMessage, block: OpenBlock, input: unknown, out: Chunk[]): void {
  if (block.written.isEmpty) return;
  if (input === block.written.text()) return;
  const parsed = parseWritten(block);
  if (parsed.fault === undefined && isSameJson(parsed.value, input)) return;
  block.written = new TextBuilder(writeJson(input) ?? "");
  showAnew(message, block.position, out);
}

/** Retracts the deltas of the blocks from `from` on. The returned function shows them again. */
export function takeBack(message: OpenMessage, from: number, out: Chunk[]): () => void {
  if (!message.blocks.slice(from).some(isShown)) return () => undefined;
  retract(message, from, out);
  return () => show(message, from, out);
}

function showAnew(message: OpenMessage, from: number, out: Chunk[]): void {
  retract(message, from, out);
  show(message, from, out);
}

function retract(message: OpenMessage, from: number, out: Chunk[]): void {
  const retraction: Retraction = from === 0 ? { messageId: message.id } : { messageId: message.id, fromIndex: from };
  out.push(noticeItem("retract", retraction, message.parent === undefined ? {} : { parent: message.parent }));
}

function show(message: OpenMessage, from: number, out: Chunk[]): void {
  for (const block of message.blocks.slice(from)) {
    if (!isShown(block)) continue;
    const delta = deltaOf(message, block, block.written.text());
    if (delta !== undefined) out.push(delta);
  }
}

function isShown(block: OpenBlock): boolean {
  return block.kind !== "other" && !block.written.isEmpty;
}
