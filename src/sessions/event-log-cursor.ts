import type { AgentEvent, DeltaEvent } from "#domain";
import { isDelta } from "#domain";
import type { EventBatch } from "./live-tail.ts";

/**
 * Leaves out what a reader at a cursor must not see: when the cursor is inside the span of a merged delta, half of its
 * text was shown already. Such a reader gets no more deltas of that block, only its finished message.
 *
 * Gives a batch back as it is, the same array, whenever nothing is left out.
 */
export function createCursorCut(after: number): (batch: EventBatch) => EventBatch {
  let cut: DeltaEvent | undefined;
  let begun = false;

  return (batch) => {
    const first = batch[0];
    if (!begun && first !== undefined) {
      begun = true;
      if (first.firstSeq !== undefined && first.firstSeq <= after && isDelta(first)) cut = first;
    }
    if (cut === undefined) return batch;
    const { messageId, index } = cut;
    const kept = batch.filter((event) => !isOfBlock(event, messageId, index));
    // The block is finished, or begins again: from here on its deltas are whole.
    if (batch.some((event) => ends(event, messageId))) cut = undefined;
    return kept;
  };
}

function isOfBlock(event: AgentEvent, messageId: string, index: number): boolean {
  return isDelta(event) && event.messageId === messageId && event.index === index;
}

function ends(event: AgentEvent, messageId: string): boolean {
  return event.type === "message" && event.id === messageId;
}
