import {
  type Block,
  callNotMade,
  type Chunk,
  type ErrorCode,
  isCompleteReply,
  messageItem,
  readCount,
  type StopReason,
  toolCallItem,
  toolResultItem,
  type Usage,
  warningItem,
} from "#domain";
import { isRecord, type JsonRecord, ownRecord, ownString } from "#wire";
import { type ProviderMessage, readStatus } from "../shared/provider-error.ts";
import { missingCalls, unknownStopReason } from "../shared/stream-faults.ts";
import type { AssembledCall } from "../shared/tool-call-assembler.ts";
import { blockOf, type Reply, showArguments } from "./reply.ts";

/** How a reply ended, read from its `finish_reason`. */
export interface Ending {
  readonly stopReason: StopReason;
  /** The host's own word, if ours is less precise. */
  readonly vendorStopReason?: string;
}

const ENDINGS: ReadonlyMap<string, Ending> = new Map([
  ["stop", { stopReason: "end-turn" }],
  ["eos", { stopReason: "end-turn" }],
  ["tool_calls", { stopReason: "tool-use" }],
  ["function_call", { stopReason: "tool-use" }],
  ["length", { stopReason: "max-tokens" }],
  ["model_length", { stopReason: "max-tokens" }],
  ["content_filter", { stopReason: "content-filter" }],
  ["sensitive", { stopReason: "content-filter" }],
]);

/** Words that are more precise than our reason for them. */
const NEEDS_VENDOR_REASON: ReadonlySet<string> = new Set(["content_filter", "sensitive", "model_length"]);

/** Finish reasons that mean the host failed. They end the stream, but not the reply. */
const FAILURES: ReadonlyMap<string, ErrorCode> = new Map([
  ["error", "provider-error"],
  ["abort", "provider-error"],
  ["network_error", "provider-error"],
  ["insufficient_system_resource", "provider-overloaded"],
]);

export function readEnding(finishReason: string): Ending {
  const ending = ENDINGS.get(finishReason);
  if (ending === undefined) {
    return { stopReason: "unknown", vendorStopReason: finishReason };
  }
  return NEEDS_VENDOR_REASON.has(finishReason) ? { ...ending, vendorStopReason: finishReason } : ending;
}

/** The error for a finish reason that means failure; `undefined` for any other. */
export function readFailure(finishReason: string): ProviderMessage | undefined {
  const code = FAILURES.get(finishReason);
  if (code === undefined) return undefined;
  const message = `The host stopped in the middle of the reply (finish_reason ${JSON.stringify(finishReason)}).`;
  return { message, code, vendorCode: finishReason };
}

/**
 * What to do with a call: run it; answer it with an error, because the host claims it is complete but it is not; or
 * drop it, because the reply is not complete.
 */
type Verdict =
  | { readonly kind: "run"; readonly input: unknown }
  | { readonly kind: "refuse" }
  | { readonly kind: "drop" };

/** Ends a reply: emits arguments still withheld, the `message`, then its calls in order. */
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
  const isComplete = isCompleteReply(ending.stopReason) && !reply.hasRefused;
  const reason = reply.hasRefused ? "refusal" : (ending.vendorStopReason ?? ending.stopReason);
  let hasCalls = false;
  let isAnyCut = false;
  for (const call of calls) {
    const slot = reply.callSlots[call.position];
    if (slot === undefined) continue;
    showArguments(reply, slot, call.id, chunks);
    const verdict = judge(call, isComplete);
    hasCalls ||= verdict.kind !== "drop";
    isAnyCut ||= verdict.kind === "drop" && call.name !== "";
    blocks[slot.index] = callBlock(call, verdict);
    items.push(...callItems(call, verdict, reason));
  }
  // The reply stopped for tool calls but has none.
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

function judge(call: AssembledCall, isComplete: boolean): Verdict {
  if (call.name === "" || !isComplete) return { kind: "drop" };
  const parsed = call.parse();
  if (call.hasGap) return { kind: "refuse" };
  if (parsed.fault === undefined) return { kind: "run", input: parsed.value };
  return call.arguments.trim() === "" ? { kind: "run", input: {} } : { kind: "refuse" };
}

function callBlock(call: AssembledCall, verdict: Verdict): Block {
  if (verdict.kind === "drop") {
    return { type: "unknown", raw: { type: "tool_call", id: call.id, name: call.name, arguments: call.arguments } };
  }
  const input = verdict.kind === "run" ? verdict.input : call.arguments;
  return { type: "tool-call", callId: call.id, name: call.name, input };
}

function callItems(call: AssembledCall, verdict: Verdict, reason: string): Chunk[] {
  const { id: callId, name } = call;
  if (verdict.kind === "drop") {
    return [warningItem(callNotMade({ callId, name, arguments: call.arguments }, reason))];
  }
  const input = verdict.kind === "run" ? verdict.input : call.arguments;
  const item = toolCallItem({ callId, name, input, executedBy: "millrace" });
  if (verdict.kind === "run") return [item];
  const output = `The arguments of this call to ${JSON.stringify(name)} did not arrive as complete JSON, so the tool was not run. Make the call again with all of its arguments in one JSON object.`;
  return [item, toolResultItem({ callId, name, output, isError: true, skipped: "incomplete" })];
}

/** Hosts use different reasons for a reply with tool calls, so the calls themselves decide. */
function stopReasonOf(
  ending: Ending,
  { hasCalls, isAnyCut, hasRefused }: Readonly<Record<"hasCalls" | "isAnyCut" | "hasRefused", boolean>>,
): StopReason {
  const isComplete = isCompleteReply(ending.stopReason);
  if (hasRefused && isComplete) return "refusal";
  // The model must be told that its calls were not made.
  if (ending.stopReason === "unknown" && isAnyCut) return "malformed-call";
  if (!isComplete) return ending.stopReason;
  if (hasCalls) return "tool-use";
  return ending.stopReason === "tool-use" ? "unknown" : ending.stopReason;
}

/**
 * Reads a `usage` object; `undefined` if it has no counts. `prompt_tokens` includes cached tokens, and
 * `completion_tokens` includes reasoning.
 */
export function readUsage(value: JsonRecord): Usage | undefined {
  const usage: { -readonly [Field in keyof Usage]: Usage[Field] } = {};
  const set = (field: keyof Usage, from: JsonRecord | undefined, key: string): void => {
    const count = readCount(from?.[key]);
    if (count !== undefined) usage[field] = count;
  };
  set("inputTokens", value, "prompt_tokens");
  set("outputTokens", value, "completion_tokens");
  // DeepSeek reports cache hits next to the prompt tokens, OpenAI in their details; if both are present they agree.
  set("cacheReadTokens", value, "prompt_cache_hit_tokens");
  set("cacheReadTokens", ownRecord(value, "prompt_tokens_details"), "cached_tokens");
  set("reasoningTokens", ownRecord(value, "completion_tokens_details"), "reasoning_tokens");
  return Object.keys(usage).length === 0 ? undefined : usage;
}

/** Values of `error.code` and `error.type`, from OpenAI and hosts that imitate it. */
const WORDS: ReadonlyMap<string, ErrorCode> = new Map([
  ["rate_limit_exceeded", "provider-rate-limited"],
  ["rate_limit_error", "provider-rate-limited"],
  ["requests", "provider-rate-limited"],
  ["tokens", "provider-rate-limited"],
  ["server_overloaded", "provider-overloaded"],
  ["overloaded_error", "provider-overloaded"],
  ["engine_overloaded_error", "provider-overloaded"],
  ["service_unavailable", "provider-overloaded"],
  ["service_unavailable_error", "provider-overloaded"],
  ["invalid_api_key", "provider-auth"],
  ["authentication_error", "provider-auth"],
  ["permission_error", "provider-auth"],
  ["insufficient_quota", "provider-auth"],
  ["billing_not_active", "provider-auth"],
  ["content_filter", "content-filtered"],
  ["content_policy_violation", "content-filtered"],
  ["context_length_exceeded", "provider-invalid-request"],
  ["model_not_found", "provider-invalid-request"],
  ["invalid_request_error", "provider-invalid-request"],
  ["BadRequestError", "provider-invalid-request"],
  ["not_found_error", "provider-invalid-request"],
]);

/**
 * Reads an error inside the stream: OpenAI's object `{ message, type, code }`, or just a string. The code is more
 * specific, so it is looked up before the type; a number in its place is an HTTP status.
 */
export function readComplaint(error: unknown): ProviderMessage {
  if (!isRecord(error)) return { message: typeof error === "string" ? error : "" };
  const words = [ownString(error, "code"), ownString(error, "type")].filter(
    (word) => word !== undefined && word !== "",
  );
  const word = words.find((candidate) => candidate !== undefined && WORDS.has(candidate));
  const status = readStatus(error.code) ?? readStatus(error.status);
  return {
    message: ownString(error, "message") ?? "",
    code: word === undefined ? undefined : WORDS.get(word),
    status,
    vendorCode: words.find((candidate) => readStatus(candidate) === undefined) ?? status?.toString(),
  };
}
