import {
  type Block,
  type Chunk,
  mergeUsage,
  type ParsedJson,
  type StopReason,
  TextBuilder,
  textDelta,
  thinkingDelta,
  toolInputDelta,
  unreachable,
  type Usage,
} from "#domain";
import { isRecord, JsonBuilder, type JsonRecord, ownString, parseJson } from "#wire";
import { readCall, readStopReason, readUsage, type ToolName, vendorWord } from "./message-fields.ts";

/**
 * A message of the Messages API while its events arrive. Shared by the API's own stream and Claude Code's stream, which
 * carries the same events. Plain state; the functions of this file modify it.
 */
export interface OpenMessage {
  /** Our id: the vendor's, unless that one is taken. */
  readonly id: string;
  readonly vendorId: string | undefined;
  /** The call id of the sub-agent that writes the message. */
  readonly parent: string | undefined;
  model: string | undefined;
  usage: Usage;
  stopReason: StopReason | undefined;
  /** The vendor's own word, if `stopReason` is `unknown` or less precise. */
  vendorStopReason: string | undefined;
  /**
   * In the order they were opened. A block's position here is the `index` of its deltas, whatever the vendor's index
   * is.
   */
  blocks: OpenBlock[];
  readonly byVendorIndex: Map<number, OpenBlock>;
  readonly byCallId: Map<string, OpenBlock>;
  /** The block of the last event: consecutive deltas mostly belong to the same block. */
  row: OpenBlock | undefined;
}

export interface OpenBlock {
  position: number;
  /** Absent if the block arrived whole and was never streamed. */
  readonly vendorIndex: number | undefined;
  readonly kind: "text" | "thinking" | "tool-call" | "other";
  /** The block as the stream opened it. */
  readonly opening: JsonRecord;
  readonly call: { readonly callId: string; readonly name: string } | undefined;
  /** The content of its deltas so far: text, thinking, or JSON. Joined once, when the block is settled. */
  written: TextBuilder | JsonBuilder;
  signature: string;
  stopped: boolean;
  /** A frame was lost while the block was being written, so it may be incomplete. */
  hasGap: boolean;
  /** The final block, once it is certain. */
  settled: Block | undefined;
}

/** The outcome of a delta. `misplaced`: it fits no block that is still being written. */
type DeltaOutcome = "written" | "unknown-type" | "misplaced";

/** Creates a message of which only the ids are known. */
export function openMessage(given: {
  readonly id: string;
  readonly vendorId?: string | undefined;
  readonly parent?: string | undefined;
}): OpenMessage {
  return {
    id: given.id,
    vendorId: given.vendorId,
    parent: given.parent,
    model: undefined,
    usage: {},
    stopReason: undefined,
    vendorStopReason: undefined,
    blocks: [],
    byVendorIndex: new Map(),
    byCallId: new Map(),
    row: undefined,
  };
}

/** Reads the model and usage of a `message` object, as in `message_start` and whole messages. */
export function readMessageHead(message: OpenMessage, head: JsonRecord): void {
  message.model = ownString(head, "model") ?? message.model;
  message.usage = mergeUsage(message.usage, readUsage(head.usage));
}

/**
 * Reads a `message_delta`: the stop reason and the final counts. Claude Code closes an interrupted message with one
 * that has no stop reason; its counts are placeholders and are ignored.
 */
export function readMessageEnd(message: OpenMessage, event: JsonRecord): boolean {
  if (!isRecord(event.delta)) return false;
  if (!noteStopReason(message, event.delta.stop_reason)) return true;
  message.usage = mergeUsage(message.usage, readUsage(event.usage));
  return true;
}

/** Sets the stop reason of a message; returns whether `value` is one. */
export function noteStopReason(message: OpenMessage, value: unknown): boolean {
  const stopReason = readStopReason(value);
  if (stopReason === undefined) return false;
  message.stopReason = stopReason;
  message.vendorStopReason = vendorWord(value);
  return true;
}

/** Reads a `content_block_start`; false if it names no block. Content of the opening is shown. */
export function startBlock(message: OpenMessage, event: JsonRecord, toolName: ToolName, out: Chunk[]): boolean {
  const opening = event.content_block;
  const vendorIndex = event.index;
  if (typeof vendorIndex !== "number" || !isRecord(opening)) return false;
  const block = addBlock(message, opening, { vendorIndex, toolName });
  if (block.kind === "text") write(message, block, ownString(opening, "text") ?? "", out);
  if (block.kind === "thinking") write(message, block, ownString(opening, "thinking") ?? "", out);
  return true;
}

/** Appends a block to the message. */
export function addBlock(
  message: OpenMessage,
  opening: JsonRecord,
  more: { readonly vendorIndex?: number; readonly toolName: ToolName },
): OpenBlock {
  const call = opening.type === "tool_use" ? readCall(opening, more.toolName) : undefined;
  const kind = kindOf(opening, call !== undefined);
  const block: OpenBlock = {
    position: message.blocks.length,
    vendorIndex: more.vendorIndex,
    kind,
    opening,
    call,
    written: kind === "text" || kind === "thinking" ? new TextBuilder() : new JsonBuilder(),
    signature: opening.type === "thinking" ? (ownString(opening, "signature") ?? "") : "",
    stopped: false,
    hasGap: false,
    settled: undefined,
  };
  message.blocks.push(block);
  indexBlock(message, block);
  message.row = block;
  return block;
}

/** Lets a block of the message be found. Of several blocks of one call it is the first. */
export function indexBlock(message: OpenMessage, block: OpenBlock): void {
  const { vendorIndex, call } = block;
  if (vendorIndex !== undefined) message.byVendorIndex.set(vendorIndex, block);
  if (call !== undefined && !message.byCallId.has(call.callId)) message.byCallId.set(call.callId, block);
}

/** Reads the delta of a `content_block_delta`. This is the hot path: one call per token. */
export function writeDelta(message: OpenMessage, vendorIndex: unknown, delta: unknown, out: Chunk[]): DeltaOutcome {
  if (!isRecord(delta)) return "misplaced";
  const block = blockAt(message, vendorIndex);
  if (block === undefined) return "misplaced";
  switch (delta.type) {
    case "text_delta":
      return writePiece(message, block, block.kind === "text", delta.text, out);
    case "thinking_delta":
      return writePiece(message, block, block.kind === "thinking", delta.thinking, out);
    case "input_json_delta":
      return writePiece(message, block, block.kind === "tool-call" || block.kind === "other", delta.partial_json, out);
    case "signature_delta":
      if (block.kind !== "thinking" || typeof delta.signature !== "string") return "misplaced";
      block.signature += delta.signature;
      return "written";
    default:
      return "unknown-type";
  }
}

/** The block with that index. The last one is cached, because consecutive deltas mostly belong to the same block. */
function blockAt(message: OpenMessage, vendorIndex: unknown): OpenBlock | undefined {
  if (message.row !== undefined && message.row.vendorIndex === vendorIndex) return message.row;
  const block = typeof vendorIndex === "number" ? message.byVendorIndex.get(vendorIndex) : undefined;
  if (block !== undefined) message.row = block;
  return block;
}

/** Appends a piece to a block that accepts pieces of this kind. */
function writePiece(message: OpenMessage, block: OpenBlock, fits: boolean, piece: unknown, out: Chunk[]): DeltaOutcome {
  // A settled block is certain: a later delta would contradict what was already reported.
  if (typeof piece !== "string" || block.settled !== undefined || !fits) return "misplaced";
  write(message, block, piece, out);
  return "written";
}

/** Something was lost here: every block that is still being written may lack a part. */
export function noteGap(message: OpenMessage): void {
  for (const block of message.blocks) if (!block.stopped) block.hasGap = true;
}

/** Reads a `content_block_stop`; false if there is no such block. */
export function stopBlock(message: OpenMessage, vendorIndex: unknown): boolean {
  const block = typeof vendorIndex === "number" ? message.byVendorIndex.get(vendorIndex) : undefined;
  if (block === undefined) return false;
  block.stopped = true;
  return true;
}

/** The delta for a piece of a block; `undefined` for blocks that are not shown in pieces. */
export function deltaOf(message: OpenMessage, block: OpenBlock, piece: string): Chunk | undefined {
  switch (block.kind) {
    case "text":
      return textDelta(message.id, block.position, piece, message.parent);
    case "thinking":
      return thinkingDelta(message.id, block.position, piece, message.parent);
    case "tool-call": {
      if (block.call === undefined) return undefined;
      const delta = toolInputDelta(message.id, block.position, block.call, piece);
      // A copy, but not on the hot path: messages of sub-agents arrive whole.
      return message.parent === undefined ? delta : { ...delta, parent: message.parent };
    }
    case "other":
      return undefined;
    default:
      return unreachable(block.kind);
  }
}

function write(message: OpenMessage, block: OpenBlock, piece: string, out: Chunk[]): void {
  if (piece === "") return;
  block.written.add(piece);
  const delta = deltaOf(message, block, piece);
  if (delta !== undefined) out.push(delta);
}

function kindOf(opening: JsonRecord, isCall: boolean): OpenBlock["kind"] {
  if (isCall) return "tool-call";
  return opening.type === "text" || opening.type === "thinking" ? opening.type : "other";
}

/** The content of a block's deltas, parsed as JSON. */
export function parseWritten({ written }: OpenBlock): ParsedJson {
  return written instanceof JsonBuilder ? written.parse() : parseJson(written.text());
}
