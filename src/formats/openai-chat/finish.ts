import {
  type Block,
  type Chunk,
  messageItem,
  type StopReason,
  toolCallItem,
  toolResultItem,
  type Usage,
  warningItem,
} from "#domain";
import { isRecord } from "#wire";
import { missingCalls, unknownStopReason } from "../stream-faults.ts";
import type { AssembledCall } from "../tool-call-assembler.ts";
import { blockOf, type Reply, showArguments } from "./reply.ts";
import type { Ending } from "./stop-reason.ts";

/**
 * What may be done with a call: run it; answer it with an error, because the host calls it whole and it is not; or
 * neither, because the reply was cut off inside it.
 */
type Verdict =
  | { readonly kind: "run"; readonly input: unknown }
  | { readonly kind: "refuse" }
  | { readonly kind: "drop" };

/** Ends a reply: arguments still withheld, the `message`, then its calls in order. */
export function finishReply(
  reply: Reply,
  { ending, usage }: { readonly ending: Ending; readonly usage: Usage | undefined },
  chunks: Chunk[],
): void {
  const calls = reply.assembler.finalize();
  const blocks: Block[] = reply.slots.map((slot) =>
    slot.kind === "call" ? { type: "unknown", raw: undefined } : blockOf(slot),
  );
  const items: Chunk[] = [];
  let hasCalls = false;
  let isAnyCut = false;
  for (const call of calls) {
    const slot = reply.callSlots[call.position];
    if (slot === undefined) continue;
    showArguments(reply, slot, call.id, chunks);
    const verdict = judge(call, ending.claimsWhole);
    hasCalls ||= verdict.kind !== "drop";
    isAnyCut ||= verdict.kind === "drop" && call.name !== "";
    blocks[slot.index] = callBlock(call, verdict);
    items.push(...callItems(call, verdict));
  }
  // It stopped in order to call tools, and calls none.
  const hasNone = ending.stopReason === "tool-use" && !hasCalls && !reply.hasRefused;
  const vendorStopReason = hasNone ? "tool_calls" : ending.vendorStopReason;
  chunks.push(
    messageItem({
      id: reply.messageId,
      role: "assistant",
      blocks,
      stopReason: stopReasonOf(ending, { hasCalls, isAnyCut, hasRefused: reply.hasRefused }),
      ...(vendorStopReason === undefined ? {} : { vendorStopReason }),
      ...(usage === undefined ? {} : { usage }),
      ...(reply.model === undefined ? {} : { model: reply.model }),
    }),
  );
  for (const item of items) chunks.push(item);
  if (hasNone) chunks.push(warningItem(missingCalls("tool_calls")));
  else if (ending.stopReason === "unknown") chunks.push(warningItem(unknownStopReason(ending.vendorStopReason ?? "")));
}

function judge(call: AssembledCall, claimsWhole: boolean): Verdict {
  if (call.name === "") return { kind: "drop" };
  const text = call.arguments.trim();
  const parsed = call.parse();
  // Of a reply that was cut off only a closed object is surely whole: a bare number might have gone on.
  if (!claimsWhole) {
    return parsed.fault === undefined && isRecord(parsed.value) && !call.hasGap
      ? { kind: "run", input: parsed.value }
      : { kind: "drop" };
  }
  if (call.hasGap) return { kind: "refuse" };
  if (text === "") return { kind: "run", input: {} };
  return parsed.fault === undefined ? { kind: "run", input: parsed.value } : { kind: "refuse" };
}

function callBlock(call: AssembledCall, verdict: Verdict): Block {
  if (verdict.kind === "drop") {
    return { type: "unknown", raw: { type: "tool_call", id: call.id, name: call.name, arguments: call.arguments } };
  }
  const input = verdict.kind === "run" ? verdict.input : call.arguments;
  return { type: "tool-call", callId: call.id, name: call.name, input };
}

function callItems(call: AssembledCall, verdict: Verdict): Chunk[] {
  const { id: callId, name } = call;
  if (verdict.kind === "drop") {
    return [
      warningItem({
        code: "tool-call-incomplete",
        message: `The reply ended inside the tool call ${JSON.stringify(name)} (${callId}), so it was not made. Allow more output tokens, or ask again.`,
        context: { callId, name, arguments: call.arguments },
      }),
    ];
  }
  const input = verdict.kind === "run" ? verdict.input : call.arguments;
  const item = toolCallItem({ callId, name, input, executedBy: "millrace" });
  if (verdict.kind === "run") return [item];
  const output = `The arguments of this call to ${JSON.stringify(name)} did not arrive as complete JSON, so the tool was not run. Make the call again with all of its arguments in one JSON object.`;
  return [item, toolResultItem({ callId, name, output, isError: true, skipped: "incomplete" })];
}

/** Hosts disagree on what to call the end of a reply with tool calls; the calls themselves decide. */
function stopReasonOf(
  ending: Ending,
  { hasCalls, isAnyCut, hasRefused }: Readonly<Record<"hasCalls" | "isAnyCut" | "hasRefused", boolean>>,
): StopReason {
  if (hasRefused && ending.claimsWhole) return "refusal";
  // Nothing but a call that nobody can read: the model has to hear of it.
  if (ending.stopReason === "unknown" && isAnyCut && !hasCalls) return "malformed-call";
  if (!ending.claimsWhole) return ending.stopReason;
  if (hasCalls) return "tool-use";
  return ending.stopReason === "tool-use" ? "unknown" : ending.stopReason;
}
