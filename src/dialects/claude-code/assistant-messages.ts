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
 * Assembles the assistant's messages from stream events and whole `assistant` frames.
 *
 * Frames are authoritative, stream events are a preview; a block that arrives both ways is emitted once. A block is
 * certain when its frame has arrived or its stream was closed properly; every other block is retracted at the end.
 *
 * A call is emitted after its message: for a streamed message at its end, for a message that arrives whole with the
 * frame that holds the call, because nothing marks the end of such a message.
 */
export interface AssistantMessages {
  /** A `message_start`. */
  open(subStream: SubStream, head: JsonRecord, out: Chunk[]): void;
  /** A `message_stop`. Blocks from `abandonedFrom` on (the vendor's index) will never be complete. */
  stop(subStream: SubStream, abandonedFrom: number | undefined, out: Chunk[]): void;
  /** An `assistant` frame; false if it holds no message. */
  read(subStream: SubStream, frame: JsonRecord, out: Chunk[]): boolean;
  /** The turn has moved on: emits what is open, except a stream in the middle of a block. */
  emit(subStream: SubStream, out: Chunk[]): void;
  /** Records that a call was answered. The last answer shows that a message without stream events is over. */
  noteAnswer(subStream: SubStream, callId: string, out: Chunk[]): void;
  /** Everything open is over: emits what is certain and retracts the rest. */
  close(subStream: SubStream, out: Chunk[]): void;
  /** The list for a chunk about a call: after the call if that has not been emitted yet, else `out`. */
  listFor(callId: string | undefined, out: Chunk[]): Chunk[];
  /** Whether a call is held until its message ends. */
  isWaiting(callId: string): boolean;
  /** Something about a call cannot be delayed: emits its message as far as it is written, and again when it is over. */
  emitNow(callId: string, out: Chunk[]): void;
  /** Attaches the current frame to held chunks. */
  keepRaw(raw: () => Raw): void;
  /** The caller's name for a tool. */
  toolName(vendorName: string): string;
}

/** What the CLI gives as the model of a message that it wrote itself, such as the report of a failed request. */
const OWN_MESSAGE = "<synthetic>";

/** Creates the assembler for one stream. `ownTool` returns the caller's name of a tool that we run. */
export function createAssistantMessages(
  openCalls: OpenToolCalls,
  ownTool: (vendorName: string) => string | undefined,
): AssistantMessages {
  const ids = createMessageIds("message");
  const queue = createCallQueue();
  const toolName = (vendorName: string): string => ownTool(vendorName) ?? vendorName;

  const hold = (
    subStream: SubStream,
    vendorId: string | undefined,
    more: { isStreamed: boolean; id?: string },
  ): HeldMessage => {
    const waiting = subStream.left ?? { calls: [], about: [] };
    subStream.left = undefined;
    return {
      ...openMessage({ id: more.id ?? ids.claim(vendorId), vendorId, parent: subStream.parent }),
      isEmitted: false,
      hasChanged: false,
      isStreamed: more.isStreamed,
      waiting,
      unanswered: new Set(),
      warnedOf: undefined,
    };
  };

  const emitMessage = (message: HeldMessage, out: Chunk[], isOver = true): void => {
    // A message is emitted a second time under the same id if it was emitted before its end: something about one of its
    // calls could not be delayed, it arrived whole block by block, or the CLI added a block (or its stop reason) after
    // later frames had shown it to be over. It holds all blocks; readers replace the message by its id.
    if (!isNews(message)) return;
    const item = finishedMessage(message);
    if (isOver) out.push(item);
    else {
      // The counts from its beginning would be mistaken for those of the whole message.
      const { usage: _, ...known } = item;
      out.push(known);
    }
    const word = message.stopReason === "unknown" ? message.vendorStopReason : undefined;
    if (word !== undefined && word !== message.warnedOf) {
      out.push(warningItem(unknownStopReason(word)));
      message.warnedOf = word;
    }
    message.isEmitted = true;
    message.hasChanged = false;
    queue.emit(message.waiting, out);
  };

  const endStream = (subStream: SubStream, isKept: (block: OpenBlock) => boolean, out: Chunk[]): void => {
    const message = subStream.streamed;
    if (message === undefined) return;
    subStream.streamed = undefined;
    const { length } = message.blocks;
    dropBlocks(message, isKept, out);
    if (message.blocks.length < length) message.hasChanged = true;
    for (const block of message.blocks) if (block.settled === undefined) settle(subStream, message, block, out);
    if (message.blocks.length === 0 && message.stopReason === undefined && !message.isEmitted) {
      ids.release(message.vendorId);
      if (message.waiting.calls.length > 0) subStream.left = message.waiting;
      return;
    }
    emitMessage(message, out);
    if (subStream.whole === undefined || !isNews(subStream.whole)) subStream.whole = message;
  };

  /** Settles a block whose frame never arrived, from its stream. */
  const settle = (subStream: SubStream, message: HeldMessage, block: OpenBlock, out: Chunk[]): void => {
    const truth = blockAsStreamed(block);
    message.hasChanged = true;
    settleBlock(message, block, truth, out);
    callTool(subStream, message, truth, block.opening);
  };

  const callTool = (subStream: SubStream, message: HeldMessage, block: Block, raw: JsonRecord): void => {
    if (block.type !== "tool-call") return;
    const isOwn = ownTool(ownString(raw, "name") ?? "") !== undefined;
    const call = openCalls.call(block, { parent: message.parent, executedBy: isOwn ? "millrace" : "backend" });
    if (call === undefined) return;
    message.unanswered.add(block.callId);
    queue.add(subStream, message.waiting, call);
  };

  /** The message that an `assistant` frame belongs to. */
  const messageOf = (subStream: SubStream, vendorId: string | undefined, out: Chunk[]): HeldMessage => {
    if (subStream.streamed !== undefined) {
      if (subStream.streamed.vendorId === vendorId) return subStream.streamed;
      // A frame of another message in the middle of a block means that the stream broke off. Between blocks it may
      // still be closed properly.
      if (subStream.streamed.blocks.some(isUnfinished)) endStream(subStream, isCertain, out);
    }
    if (subStream.whole !== undefined) {
      if (subStream.whole.vendorId === vendorId) return subStream.whole;
      if (isNews(subStream.whole)) emit(subStream, out);
    }
    subStream.whole = hold(subStream, vendorId, { isStreamed: false });
    return subStream.whole;
  };

  const emit = (subStream: SubStream, out: Chunk[]): void => {
    const { streamed, whole } = subStream;
    // The streamed message first: a whole message that is not emitted yet arrived after it.
    if (streamed !== undefined && streamed.blocks.length > 0 && streamed.blocks.every(isCertain)) {
      emitMessage(streamed, out);
    }
    if (whole !== undefined) emitMessage(whole, out);
  };

  const close = (subStream: SubStream, out: Chunk[]): void => {
    endStream(subStream, isCertain, out);
    if (subStream.whole !== undefined) emitMessage(subStream.whole, out);
    subStream.whole = undefined;
    if (subStream.left !== undefined) queue.emit(subStream.left, out);
    subStream.left = undefined;
  };

  /** Emits the streamed message as far as it is written. Its open block is shown again afterwards. */
  const emitBeginning = (subStream: SubStream, message: HeldMessage, out: Chunk[]): void => {
    // The CLI sends no frame for an empty text, so a closed block without one gets none.
    for (const block of message.blocks) {
      if (block.settled === undefined && block.stopped && block.kind !== "tool-call")
        settle(subStream, message, block, out);
    }
    const open = message.blocks.findIndex((block) => !isCertain(block));
    if (open === -1) emitMessage(message, out, false);
    else if (message.blocks.slice(open).some(isCertain)) endStream(subStream, isCertain, out);
    else {
      const showAgain = takeBack(message, open, out);
      emitMessage(message, out, false);
      showAgain();
    }
  };

  const emitNow = (callId: string, out: Chunk[]): void => {
    const place = queue.find(callId);
    if (place === undefined) return;
    const { subStream, waiting } = place;
    if (subStream.streamed?.waiting === waiting) emitBeginning(subStream, subStream.streamed, out);
    queue.emit(waiting, out);
  };

  const readBlocks = (subStream: SubStream, message: HeldMessage, content: readonly unknown[], out: Chunk[]): void => {
    for (const raw of content) {
      const opening = isRecord(raw) ? raw : { type: "unknown", value: raw };
      const truth = unwrapInput(readBlock(raw, toolName));
      const known = findBlock(message, truth, opening);
      const block = known ?? addBlock(message, opening, { toolName });
      if (block.settled !== undefined) continue;
      message.hasChanged = true;
      settleBlock(message, block, withShownInput(truth, block), out);
      callTool(subStream, message, block.settled ?? truth, opening);
    }
    if (message !== subStream.streamed && message.waiting.calls.length > 0) emit(subStream, out);
  };

  return {
    toolName,
    emit,
    close,
    emitNow,
    listFor(callId, out) {
      const place = queue.listFor(callId, out);
      if (place === out || place.length < MAX_ABOUT || callId === undefined) return place;
      emitNow(callId, out);
      return out;
    },
    isWaiting: (callId) => queue.find(callId) !== undefined,
    keepRaw: queue.keepRaw,
    noteAnswer(subStream, callId, out) {
      const { whole } = subStream;
      if (whole?.unanswered.delete(callId) && whole.unanswered.size === 0 && isNews(whole)) emit(subStream, out);
    },
    open(subStream, head, out) {
      const vendorId = ownString(head, "id");
      const before = subStream.streamed;
      const isRestart = before !== undefined && before.vendorId === vendorId && !before.isEmitted;
      if (isRestart) {
        dropBlocks(before, () => false, out);
        subStream.streamed = undefined;
      }
      close(subStream, out);
      if (isRestart) subStream.left = before.waiting;
      subStream.streamed = hold(subStream, vendorId, { isStreamed: true, ...(isRestart && { id: before.id }) });
      readMessageHead(subStream.streamed, head);
    },
    stop(subStream, abandonedFrom, out) {
      const isGood = subStream.streamed?.stopReason !== undefined;
      endStream(
        subStream,
        (block) => {
          // A call whose frame has arrived may be running.
          if (abandonedFrom !== undefined && (block.vendorIndex ?? -1) >= abandonedFrom) return isCertainCall(block);
          return isCertain(block) || (isGood && block.stopped);
        },
        out,
      );
    },
    read(subStream, frame, out) {
      const head = ownRecord(frame, "message");
      const text = head === undefined ? undefined : ownString(head, "content");
      const content = text === undefined ? head && ownArray(head, "content") : [{ type: "text", text }];
      if (head === undefined || content === undefined) return false;
      const message = messageOf(subStream, ownString(head, "id") ?? ownString(frame, "uuid"), out);
      if (!message.isStreamed) {
        readMessageHead(message, head);
        if (message.model === OWN_MESSAGE) message.model = undefined;
        noteStopReason(message, head.stop_reason);
      }
      readBlocks(subStream, message, content, out);
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
  return !message.isEmitted || message.hasChanged;
}

function isUnfinished(block: OpenBlock): boolean {
  return block.settled === undefined && !block.stopped;
}

/**
 * The streamed block that a frame completes: the one being written, because its frame arrives before its end; otherwise
 * another unsettled block of its kind, the latest first (the CLI sends no frame for an empty text).
 */
function findBlock(message: HeldMessage, truth: Block, raw: JsonRecord): OpenBlock | undefined {
  if (truth.type === "tool-call") return message.byCallId.get(truth.callId);
  const fits = (block: OpenBlock): boolean =>
    block.vendorIndex !== undefined && block.settled === undefined && block.opening.type === raw.type;
  return (
    message.blocks.findLast((block) => fits(block) && !block.stopped) ??
    message.blocks.findLast((block) => fits(block) && "text" in truth && block.written.text() === truth.text) ??
    message.blocks.findLast(fits)
  );
}

/** The CLI wraps arguments that are not JSON: `{ __unparsedToolInput: { raw, len } }`. The raw text is the input. */
function unwrapInput(block: Block): Block {
  if (block.type !== "tool-call" || !isRecord(block.input)) return block;
  const packed = ownRecord(block.input, "__unparsedToolInput");
  const text = packed === undefined ? undefined : ownString(packed, "raw");
  return text === undefined ? block : { ...block, input: text };
}

/** The wrapped text may be cut; the streamed text is complete. */
function withShownInput(truth: Block, block: OpenBlock): Block {
  if (truth.type !== "tool-call" || typeof truth.input !== "string" || block.written.isEmpty) return truth;
  return { ...truth, input: block.written.text() };
}
