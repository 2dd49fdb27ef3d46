import { type Block, type Chunk, type StopReason, toolCallItem, toolResultItem, warningItem } from "#domain";
import { isRecord } from "#wire";
import { blockAsStreamed, finishedMessage } from "../shared/message-settle.ts";
import { type OpenBlock, type OpenMessage, parseWritten } from "../shared/message-stream.ts";
import { missingCalls, unknownStopReason } from "../shared/stream-faults.ts";

/** Stop reasons with which a model claims to have finished writing; with any other the reply may be cut. */
const CLAIMS_COMPLETENESS: ReadonlySet<StopReason> = new Set(["end-turn", "tool-use", "stop-sequence"]);

/**
 * Emits a message whose stream ended well, then its tool calls in order.
 *
 * Arguments that were cut make no call: the block is kept as unknown, with a warning. Arguments that the model claims
 * are complete but that are not JSON do make a call, with the text as its input. It is answered at once, so that the
 * model learns what was wrong.
 */
export function finishMessage(message: OpenMessage, out: Chunk[]): void {
  const isClaimed = message.stopReason !== undefined && CLAIMS_COMPLETENESS.has(message.stopReason);
  const afterwards: Chunk[] = [];
  const callIds = new Set<string>();
  let isAnyCut = false;
  for (const block of message.blocks) {
    const isLast = block.position === message.blocks.length - 1;
    const isCut = block.kind === "tool-call" && !isClaimed && !isWhole(block, isLast);
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
    // The only call is unreadable: the model must be told that it was not made.
    if (isAnyCut && callIds.size === 0) message.stopReason = "malformed-call";
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

/** Whether the arguments in a message that may be cut are complete. Only its last block can be the cut one. */
function isWhole(block: OpenBlock, isLast: boolean): boolean {
  if (block.hasGap) return false;
  if (block.written.isEmpty) return !isLast || hasInput(block);
  const parsed = parseWritten(block);
  // `12` may be the beginning of `123`; an object has an explicit end.
  return parsed.fault === undefined && (!isLast || isRecord(parsed.value));
}

function hasInput(block: OpenBlock): boolean {
  return isRecord(block.opening.input) && Object.keys(block.opening.input).length > 0;
}

function cutCall(block: OpenBlock): Block {
  const { id, name } = block.opening;
  return { type: "unknown", raw: { type: "tool_use", id, name, json: block.written.text() } };
}

function incomplete(message: OpenMessage, block: OpenBlock): Chunk {
  const { callId, name } = block.call ?? { callId: "", name: "" };
  return warningItem({
    code: "tool-call-incomplete",
    message: `The arguments of the call to "${name}" were cut (${message.stopReason}). The tool was not run.`,
    context: { messageId: message.id, index: block.position, callId, name, stopReason: message.stopReason },
  });
}
