import {
  type ChunkOf,
  callNotMade,
  type Chunk,
  type ErrorCode,
  type ErrorItem,
  errorItem,
  isCompleteReply,
  messageItem,
  readCount,
  type StopReason,
  toolCallItem,
  type Usage,
  type WarningDetail,
  warningItem,
} from "#domain";
import { type DataFrame, isRecord, type JsonRecord, ownString, rawOf } from "#wire";
import { type ProviderMessage, providerError, readStatus } from "../shared/provider-error.ts";
import { closeGrowing, dropCalls, type Reply } from "./reply.ts";

/** Maps `finishReason` to our stop reasons; one that is neither here nor among the failures is `unknown`. */
const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["STOP", "end-turn"],
  ["MAX_TOKENS", "max-tokens"],
  // The limit of a single request: the reply is also incomplete.
  ["CONTINUATION", "max-tokens"],
  ["SAFETY", "content-filter"],
  ["RECITATION", "content-filter"],
  ["LANGUAGE", "content-filter"],
  ["BLOCKLIST", "content-filter"],
  ["PROHIBITED_CONTENT", "content-filter"],
  ["SPII", "content-filter"],
  ["IMAGE_SAFETY", "content-filter"],
  ["IMAGE_PROHIBITED_CONTENT", "content-filter"],
  ["IMAGE_RECITATION", "content-filter"],
  ["MALFORMED_FUNCTION_CALL", "malformed-call"],
  ["UNEXPECTED_TOOL_CALL", "malformed-call"],
]);

/** Finish reasons that mean Gemini failed. They end the stream, but not the reply. */
const FAILURES: ReadonlyMap<string, ErrorCode> = new Map([
  ["OTHER", "provider-error"],
  ["TOO_MANY_TOOL_CALLS", "provider-error"],
  ["MALFORMED_RESPONSE", "provider-error"],
  ["IMAGE_OTHER", "provider-error"],
  ["NO_IMAGE", "provider-error"],
  // The request lacks a required signature, so a retry would fail as well.
  ["MISSING_THOUGHT_SIGNATURE", "provider-invalid-request"],
]);

/** The default value of the field: no reason. */
export const NO_REASON = "FINISH_REASON_UNSPECIFIED";

export function readStopReason(finishReason: string): StopReason {
  return STOP_REASONS.get(finishReason) ?? "unknown";
}

export function readFailure(finishReason: string): ErrorCode | undefined {
  return FAILURES.get(finishReason);
}

/** Ends a reply: emits its `message`, then its calls, then its warnings. */
export function finishReply(
  reply: Reply,
  { finishReason, usageMetadata }: { readonly finishReason: string; readonly usageMetadata: JsonRecord | undefined },
  chunks: Chunk[],
): void {
  closeGrowing(reply);
  const stopReason = stopReasonOf(finishReason, reply);
  if (!isCompleteReply(stopReason)) {
    const given = readStopReason(finishReason);
    const why = given === "end-turn" ? "another of its calls is incomplete" : finishReason;
    // A call that Gemini itself could not read was reported already.
    if (given !== "malformed-call") reply.warnings.push(...reply.calls.map((call) => callNotMade({ ...call }, why)));
    dropCalls(reply);
  }
  const usage = usageMetadata === undefined ? undefined : readUsage(usageMetadata);
  chunks.push(
    messageItem({
      id: reply.messageId,
      role: "assistant",
      blocks: reply.blocks,
      stopReason,
      ...((NEEDS_THE_VENDORS_WORD.has(stopReason) || finishReason === "CONTINUATION") && {
        vendorStopReason: finishReason,
      }),
      ...(usage === undefined ? {} : { usage }),
      ...(reply.model === undefined ? {} : { model: reply.model }),
    }),
  );
  for (const call of reply.calls) chunks.push(toolCallItem({ ...call, executedBy: "millrace" }));
  for (const warning of reply.warnings) chunks.push(warningItem(warning));
}

const NEEDS_THE_VENDORS_WORD: ReadonlySet<StopReason> = new Set(["unknown", "content-filter", "malformed-call"]);

function stopReasonOf(finishReason: string, reply: Reply): StopReason {
  const stopReason = readStopReason(finishReason);
  const hasCalls = reply.calls.length > 0;
  // The model must be told that its calls were not made.
  if (stopReason === "unknown" && (hasCalls || reply.isAnyCut)) return "malformed-call";
  if (stopReason !== "end-turn") return stopReason;
  return reply.isAnyCut ? "malformed-call" : hasCalls ? "tool-use" : stopReason;
}

/** The error for a finish reason that means failure. */
export function gaveUp(
  candidate: JsonRecord,
  { reason, code }: { readonly reason: string; readonly code: ErrorCode },
  frame: DataFrame,
): ChunkOf<ErrorItem> {
  const explanation = ownString(candidate, "finishMessage");
  const message = `Gemini gave up on the reply (finishReason ${reason})${explanation === undefined ? "." : `: ${explanation}`}`;
  return providerError({ message, code, vendorCode: reason }, frame);
}

/** The warning that the calls of a reply were not made. */
export function malformedCall(candidate: JsonRecord, finishReason: string): WarningDetail {
  const finishMessage = ownString(candidate, "finishMessage");
  return {
    code: "tool-call-incomplete",
    message: `The model wrote a tool call that Gemini could not read (${finishReason}), so none of its calls was made.`,
    context: { finishReason, ...(finishMessage === undefined ? {} : { finishMessage }) },
  };
}

/** The error for a prompt that Gemini refuses. */
export function blockedError(feedback: JsonRecord, frame: DataFrame): ChunkOf<ErrorItem> {
  const reason = String(feedback.blockReason);
  const explanation = ownString(feedback, "blockReasonMessage");
  return errorItem(
    {
      code: "content-filtered",
      message: `Gemini refused the prompt (${reason})${explanation === undefined ? "" : `: ${explanation}`}. Change the prompt or the safety settings.`,
      terminal: true,
      diagnostic: { vendorCode: reason },
    },
    { raw: rawOf(frame) },
  );
}

/**
 * Reads `usageMetadata`; `undefined` if it has no counts. Gemini counts thoughts separately from the answer; our
 * `outputTokens` is everything the model wrote, so they are added. The prompt count includes cached tokens.
 */
export function readUsage(metadata: JsonRecord): Usage | undefined {
  const usage: { -readonly [Field in keyof Usage]: Usage[Field] } = {};
  const thoughts = readCount(metadata.thoughtsTokenCount);
  const set = (field: keyof Usage, ...counts: (number | undefined)[]): void => {
    const known = counts.filter((count) => count !== undefined);
    if (known.length > 0) usage[field] = known.reduce((sum, count) => sum + count, 0);
  };
  set("inputTokens", readCount(metadata.promptTokenCount), readCount(metadata.toolUsePromptTokenCount));
  set("outputTokens", readCount(metadata.candidatesTokenCount), thoughts);
  set("cacheReadTokens", readCount(metadata.cachedContentTokenCount));
  set("reasoningTokens", thoughts);
  return Object.keys(usage).length === 0 ? undefined : usage;
}

/** Google's canonical error names. */
const WORDS: ReadonlyMap<string, ErrorCode> = new Map([
  ["RESOURCE_EXHAUSTED", "provider-rate-limited"],
  ["UNAVAILABLE", "provider-overloaded"],
  ["UNAUTHENTICATED", "provider-auth"],
  ["PERMISSION_DENIED", "provider-auth"],
  ["INVALID_ARGUMENT", "provider-invalid-request"],
  ["FAILED_PRECONDITION", "provider-invalid-request"],
  ["OUT_OF_RANGE", "provider-invalid-request"],
  ["NOT_FOUND", "provider-invalid-request"],
]);

/** Reads the error object `{ code, status, message }`, where `code` is an HTTP status and `status` a name. */
export function readComplaint(error: unknown): ProviderMessage {
  if (!isRecord(error)) return { message: typeof error === "string" ? error : "" };
  const name = ownString(error, "status") || undefined;
  const status = readStatus(error.code);
  return {
    message: ownString(error, "message") ?? "",
    code: name === undefined ? undefined : WORDS.get(name),
    status,
    vendorCode: name ?? status?.toString(),
  };
}
