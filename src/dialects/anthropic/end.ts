import {
  type Block,
  callNotMade,
  type Chunk,
  isCompleteReply,
  toolCallItem,
  toolResultItem,
  warningItem,
} from "#domain";
import { blockAsStreamed, finishedMessage } from "../shared/message-settle.ts";
import { type OpenBlock, type OpenMessage, parseWritten } from "../shared/message-stream.ts";
import { missingCalls, unknownStopReason } from "../shared/stream-faults.ts";

/**
 * Emits a message whose stream ended well, then its tool calls in order.
 *
 * A reply that is not complete makes no call: the blocks are kept as unknown, with a warning. Arguments that the model claims
 * are complete but that are not JSON do make a call, with the text as its input. It is answered at once, so that the
 * model learns what was wrong.
 */
export function finishMessage(message: OpenMessage, out: Chunk[]): void {
  const isComplete = isCompleteReply(message.stopReason);
  const afterwards: Chunk[] = [];
  const callIds = new Set<string>();
  let isAnyCut = false;
  for (const block of message.blocks) {
    const isCut = block.kind === "tool-call" && !isComplete;
    block.settled = isCut ? cutCall(block) : blockAsStreamed(block);
    isAnyCut ||= isCut;
    if (isCut) afterwards.push(incomplete(message, block));
    // Two calls with one id cannot both be answered, so only the first is made.
    else if (block.settled.type === "tool-call" && !callIds.has(block.settled.callId)) {
      callIds.add(block.settled.callId);
      makeCall(block, block.settled, afterwards);
    }
  }
  if (message.stopReason === "tool-use" && message.blocks.every(({ kind }) => kind !== "tool-call")) {
    message.stopReason = "unknown";
    message.vendorStopReason = "tool_use";
    afterwards.push(warningItem(missingCalls("tool_use")));
  } else if (message.stopReason === "unknown") {
    afterwards.push(warningItem(unknownStopReason(message.vendorStopReason ?? "")));
    // The model must be told that its calls were not made.
    if (isAnyCut) message.stopReason = "malformed-call";
  }
  out.push(finishedMessage(message));
  for (const chunk of afterwards) out.push(chunk);
}

const LOST = "a part of them was lost on the way";

function makeCall(block: OpenBlock, call: Extract<Block, { type: "tool-call" }>, out: Chunk[]): void {
  const { callId, name, input } = call;
  out.push(toolCallItem({ callId, name, input, executedBy: "millrace" }));
  const fault = block.hasGap ? LOST : block.written.isEmpty ? undefined : parseWritten(block).fault;
  if (fault === undefined) return;
  out.push(
    toolResultItem({
      callId,
      name,
      isError: true,
      skipped: "incomplete",
      output: `The tool was not run: its arguments cannot be read (${fault}). Send the call again with complete JSON.`,
    }),
  );
}

function cutCall(block: OpenBlock): Block {
  const { id, name } = block.opening;
  return { type: "unknown", raw: { type: "tool_use", id, name, json: block.written.text() } };
}

function incomplete(message: OpenMessage, block: OpenBlock): Chunk {
  const { callId, name } = block.call ?? { callId: "", name: "" };
  const reason = message.vendorStopReason ?? message.stopReason ?? "";
  return warningItem(callNotMade({ callId, name, messageId: message.id, index: block.position }, reason));
}
