import { type Block, type Chunk, type Raw, warningItem } from "#domain";
import { isRecord, type JsonRecord, ownArray, ownRecord, ownString } from "#wire";
import { readBlock } from "../shared/message-fields.ts";
import { createMessageIds } from "../shared/message-ids.ts";
import { blockAsStreamed, dropBlocks, finishedMessage, settleBlock, takeBack } from "../shared/message-settle.ts";
import { addBlock, noteStopReason, type OpenBlock, openMessage, readMessageHead } from "../shared/message-stream.ts";
import { unknownStopReason } from "../shared/stream-faults.ts";
import type { HeldMessage, SubStream } from "./sub-stream.ts";
import type { OpenToolCalls } from "./open-tool-calls.ts";
import { createCallQueue, MAX_ABOUT } from "./waiting-calls.ts";

/**
 * The assistant's messages, from stream events and whole `assistant` frames together.
 *
 * Frames are the truth, stream events a preview; a block that came both ways is told once. A block is certain when
 * its frame was seen, or when its stream was closed in good order; every other one is taken back in the end.
 *
 * A call is told behind its message: of a streamed one at its end, of one that comes whole with the frame that holds
 * the call, for nothing says where it ends.
 */
export interface Conversation {
  /** A `message_start`. */
  open(lane: SubStream, head: JsonRecord, out: Chunk[]): void;
  /** A `message_stop`; blocks from `abandonedFrom` on (the vendor's index) will never be complete. */
  stop(lane: SubStream, abandonedFrom: number | undefined, out: Chunk[]): void;
  /** An `assistant` frame; false when it holds no message. */
  read(lane: SubStream, frame: JsonRecord, out: Chunk[]): boolean;
  /** The turn has moved on: tells what is open, except a stream in the middle of a block. */
  tell(lane: SubStream, out: Chunk[]): void;
  /** Takes note of an answered call. The last answer shows that a message without stream events is over. */
  noteAnswer(lane: SubStream, callId: string, out: Chunk[]): void;
  /** Everything open is over: what is certain is told, the rest is taken back. */
  close(lane: SubStream, out: Chunk[]): void;
  /** Where to put what is about a call: behind the call, if that is not told yet. */
  behind(callId: string | undefined, out: Chunk[]): Chunk[];
  /** Whether a call waits for the end of its message. */
  isWaiting(callId: string): boolean;
  /** Something about a call cannot wait: its message is told as far as it is written, and again when it is over. */
  tellNow(callId: string, out: Chunk[]): void;
  /** Gives what is held back the frame it came from. */
  keepRaw(raw: () => Raw): void;
  /** The caller's name of a tool. */
  toolName(vendorName: string): string;
}

/** Creates the conversation of one stream. `ownTool` gives the caller's name of a tool that we run. */
export function createConversation(
  ledger: OpenToolCalls,
  ownTool: (vendorName: string) => string | undefined,
): Conversation {
  const ids = createMessageIds("message");
  const queue = createCallQueue();
  const toolName = (vendorName: string): string => ownTool(vendorName) ?? vendorName;

  const hold = (
    lane: SubStream,
    vendorId: string | undefined,
    more: { isStreamed: boolean; id?: string },
  ): HeldMessage => {
    const waiting = lane.left ?? { calls: [], about: [] };
    lane.left = undefined;
    return {
      ...openMessage({ id: more.id ?? ids.claim(vendorId), vendorId, parent: lane.parent }),
      isTold: false,
      hasChanged: false,
      isStreamed: more.isStreamed,
      waiting,
      unanswered: new Set(),
      warnedOf: undefined,
    };
  };

  const tellMessage = (message: HeldMessage, out: Chunk[], isOver = true): void => {
    // A second `message` under the same id happens when one was told before its end: something about a call of it
    // could not wait, it came whole, block by block, or the CLI adds a block to one that its own later frames had shown
    // to be over (or names its stop reason so late). It holds all blocks; readers replace by id.
    if (!isNews(message)) return;
    const item = finishedMessage(message);
    if (isOver) out.push(item);
    else {
      // The counts of its beginning would be taken for those of the message.
      const { usage: _, ...known } = item;
      out.push(known);
    }
    const word = message.stopReason === "unknown" ? message.vendorStopReason : undefined;
    if (word !== undefined && word !== message.warnedOf) {
      out.push(warningItem(unknownStopReason(word)));
      message.warnedOf = word;
    }
    message.isTold = true;
    message.hasChanged = false;
    queue.tell(message.waiting, out);
  };

  const endStream = (lane: SubStream, isKept: (block: OpenBlock) => boolean, out: Chunk[]): void => {
    const message = lane.streamed;
    if (message === undefined) return;
    lane.streamed = undefined;
    const { length } = message.blocks;
    dropBlocks(message, isKept, out);
    if (message.blocks.length < length) message.hasChanged = true;
    for (const block of message.blocks) if (block.settled === undefined) settle(lane, message, block, out);
    if (message.blocks.length === 0 && message.stopReason === undefined && !message.isTold) {
      ids.release(message.vendorId);
      if (message.waiting.calls.length > 0) lane.left = message.waiting;
      return;
    }
    tellMessage(message, out);
    if (lane.whole === undefined || !isNews(lane.whole)) lane.whole = message;
  };

  /** Settles a block whose frame never came, from what its stream said. */
  const settle = (lane: SubStream, message: HeldMessage, block: OpenBlock, out: Chunk[]): void => {
    const truth = blockAsStreamed(block);
    message.hasChanged = true;
    settleBlock(message, block, truth, out);
    callTool(lane, message, truth, block.opening);
  };

  const callTool = (lane: SubStream, message: HeldMessage, block: Block, raw: JsonRecord): void => {
    if (block.type !== "tool-call") return;
    const isOwn = ownTool(ownString(raw, "name") ?? "") !== undefined;
    const call = ledger.call(block, { parent: message.parent, executedBy: isOwn ? "millrace" : "backend" });
    if (call === undefined) return;
    message.unanswered.add(block.callId);
    queue.add(lane, message.waiting, call);
  };

  /** The message an `assistant` frame belongs to. */
  const messageOf = (lane: SubStream, vendorId: string | undefined, out: Chunk[]): HeldMessage => {
    if (lane.streamed !== undefined) {
      if (lane.streamed.vendorId === vendorId) return lane.streamed;
      // A frame of another message while a block is being written: that stream has broken off. Between blocks it may
      // still be closed in good order.
      if (lane.streamed.blocks.some(isUnfinished)) endStream(lane, isCertain, out);
    }
    if (lane.whole !== undefined) {
      if (lane.whole.vendorId === vendorId) return lane.whole;
      if (isNews(lane.whole)) tell(lane, out);
    }
    lane.whole = hold(lane, vendorId, { isStreamed: false });
    return lane.whole;
  };

  const tell = (lane: SubStream, out: Chunk[]): void => {
    const { streamed, whole } = lane;
    // The streamed one first: a whole one that is still untold came after it.
    if (streamed !== undefined && streamed.blocks.length > 0 && streamed.blocks.every(isCertain)) {
      tellMessage(streamed, out);
    }
    if (whole !== undefined) tellMessage(whole, out);
  };

  const close = (lane: SubStream, out: Chunk[]): void => {
    endStream(lane, isCertain, out);
    if (lane.whole !== undefined) tellMessage(lane.whole, out);
    lane.whole = undefined;
    if (lane.left !== undefined) queue.tell(lane.left, out);
    lane.left = undefined;
  };

  /** Tells the message that is being streamed as far as it is written. Its open block is shown again behind it. */
  const tellBeginning = (lane: SubStream, message: HeldMessage, out: Chunk[]): void => {
    // The CLI gives no frame for an empty text, so a block that was closed without one gets none.
    for (const block of message.blocks) {
      if (block.settled === undefined && block.stopped && block.kind !== "tool-call") settle(lane, message, block, out);
    }
    const open = message.blocks.findIndex((block) => !isCertain(block));
    if (open === -1) tellMessage(message, out, false);
    else if (message.blocks.slice(open).some(isCertain)) endStream(lane, isCertain, out);
    else {
      const showAgain = takeBack(message, open, out);
      tellMessage(message, out, false);
      showAgain();
    }
  };

  const tellNow = (callId: string, out: Chunk[]): void => {
    const place = queue.find(callId);
    if (place === undefined) return;
    const { lane, waiting } = place;
    if (lane.streamed?.waiting === waiting) tellBeginning(lane, lane.streamed, out);
    queue.tell(waiting, out);
  };

  const readBlocks = (lane: SubStream, message: HeldMessage, content: readonly unknown[], out: Chunk[]): void => {
    for (const raw of content) {
      const opening = isRecord(raw) ? raw : { type: "unknown", value: raw };
      const truth = unwrapInput(readBlock(raw, toolName));
      const known = findBlock(message, truth, opening);
      const block = known ?? addBlock(message, opening, { toolName });
      if (block.settled !== undefined) continue;
      message.hasChanged = true;
      settleBlock(message, block, withShownInput(truth, block), out);
      callTool(lane, message, block.settled ?? truth, opening);
    }
    if (message !== lane.streamed && message.waiting.calls.length > 0) tell(lane, out);
  };

  return {
    toolName,
    tell,
    close,
    tellNow,
    behind(callId, out) {
      const place = queue.behind(callId, out);
      if (place === out || place.length < MAX_ABOUT || callId === undefined) return place;
      tellNow(callId, out);
      return out;
    },
    isWaiting: (callId) => queue.find(callId) !== undefined,
    keepRaw: queue.keepRaw,
    noteAnswer(lane, callId, out) {
      const { whole } = lane;
      if (whole?.unanswered.delete(callId) && whole.unanswered.size === 0 && isNews(whole)) tell(lane, out);
    },
    open(lane, head, out) {
      const vendorId = ownString(head, "id");
      const before = lane.streamed;
      const isRestart = before !== undefined && before.vendorId === vendorId && !before.isTold;
      if (isRestart) {
        dropBlocks(before, () => false, out);
        lane.streamed = undefined;
      }
      close(lane, out);
      if (isRestart) lane.left = before.waiting;
      lane.streamed = hold(lane, vendorId, { isStreamed: true, ...(isRestart && { id: before.id }) });
      readMessageHead(lane.streamed, head);
    },
    stop(lane, abandonedFrom, out) {
      const isGood = lane.streamed?.stopReason !== undefined;
      endStream(
        lane,
        (block) => {
          // A call whose frame was seen may be running.
          if (abandonedFrom !== undefined && (block.vendorIndex ?? -1) >= abandonedFrom) return isCertainCall(block);
          return isCertain(block) || (isGood && block.stopped);
        },
        out,
      );
    },
    read(lane, frame, out) {
      const head = ownRecord(frame, "message");
      const text = head === undefined ? undefined : ownString(head, "content");
      const content = text === undefined ? head && ownArray(head, "content") : [{ type: "text", text }];
      if (head === undefined || content === undefined) return false;
      const message = messageOf(lane, ownString(head, "id") ?? ownString(frame, "uuid"), out);
      if (!message.isStreamed) {
        readMessageHead(message, head);
        noteStopReason(message, head.stop_reason);
      }
      readBlocks(lane, message, content, out);
      return true;
    },
  };
}

function isCertain(block: OpenBlock): boolean {
  return block.settled !== undefined;
}

function isCertainCall(block: OpenBlock): boolean {
  return block.settled?.type === "tool-call";
}

function isNews(message: HeldMessage): boolean {
  return !message.isTold || message.hasChanged;
}

function isUnfinished(block: OpenBlock): boolean {
  return block.settled === undefined && !block.stopped;
}

/**
 * The block of the stream that a frame completes: the one being written, as its frame comes before its end; failing
 * that another one of its kind that still waits, the later the likelier (the CLI gives no frame for an empty text).
 */
function findBlock(message: HeldMessage, truth: Block, raw: JsonRecord): OpenBlock | undefined {
  if (truth.type === "tool-call") return message.blocks.find((block) => block.call?.callId === truth.callId);
  const fits = (block: OpenBlock): boolean =>
    block.vendorIndex !== undefined && block.settled === undefined && block.opening.type === raw.type;
  return (
    message.blocks.findLast((block) => fits(block) && !block.stopped) ??
    message.blocks.findLast((block) => fits(block) && "text" in truth && block.written.text() === truth.text) ??
    message.blocks.findLast(fits)
  );
}

/** Arguments that are no JSON come packed: `{ __unparsedToolInput: { raw, len } }`. The text itself is the input. */
function unwrapInput(block: Block): Block {
  if (block.type !== "tool-call" || !isRecord(block.input)) return block;
  const packed = ownRecord(block.input, "__unparsedToolInput");
  const text = packed === undefined ? undefined : ownString(packed, "raw");
  return text === undefined ? block : { ...block, input: text };
}

/** The packed text may be cut; what was streamed is the whole of it. */
function withShownInput(truth: Block, block: OpenBlock): Block {
  if (truth.type !== "tool-call" || typeof truth.input !== "string" || block.written.isEmpty) return truth;
  return { ...truth, input: block.written.text() };
}
