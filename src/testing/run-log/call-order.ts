import type { MessageItem } from "#domain";
import type { Check, Report } from "./check.ts";

/** A message comes before its tool calls, and a tool call before the decision about it. */
export function checkCallOrder(report: Report): Check {
  /** Calls that are in a message so far. */
  const inMessages = new Set<string>();
  const calledAt = new Map<string, number>();
  /**
   * The position of the first permission for a call that does not exist yet. A call that never follows is no violation.
   */
  const decidedAt = new Map<string, number>();
  let over = false;

  const noteMessage = ({ id, blocks }: MessageItem): void => {
    for (const block of blocks) {
      if (block.type !== "tool-call" || inMessages.has(block.callId)) continue;
      inMessages.add(block.callId);
      const at = calledAt.get(block.callId);
      if (at !== undefined) report("call-after-message", at, `${block.callId} comes before its message ${id}`);
    }
  };

  const noteCall = (callId: string, at: number): void => {
    if (!calledAt.has(callId)) calledAt.set(callId, at);
    const early = decidedAt.get(callId);
    if (early !== undefined) report("decision-after-call", early, `this permission comes before its call ${callId}`);
  };

  return {
    next(event, at) {
      if (over) return;
      if (event.type === "message" && event.role === "assistant") noteMessage(event);
      else if (event.type === "tool-call") noteCall(event.callId, at);
      else if (event.type === "permission") {
        if (!calledAt.has(event.callId) && !decidedAt.has(event.callId)) decidedAt.set(event.callId, at);
      } else if (event.type === "done") over = true;
    },
  };
}
