import { encodeSse, type JsonRecord, ownArray, ownString, ownValue } from "#wire";
import type { VendorError, WireEvent } from "../protocol.ts";
import type { FinishedReply } from "../reply.ts";
import { splitEvery } from "../text-pieces.ts";

const FRAGMENT = 12;

/** One item of the output: its beginning, the events while it grows, and the whole item. */
interface OutputItem {
  readonly start: object;
  readonly steps: Iterable<{ readonly type: string; readonly fields: object }>;
  readonly whole: object;
}

/** Encodes a reply as the events of a stream. */
export function* encodeResponsesStream(reply: FinishedReply, body: JsonRecord): Generator<WireEvent> {
  let sequence = 0;
  const event = (type: string, fields: object): WireEvent => ({
    text: encodeSse({ event: type, data: JSON.stringify({ type, sequence_number: sequence++, ...fields }) }),
  });
  const begun = { ...envelope(reply, body), status: "in_progress", output: [], usage: null };
  yield event("response.created", { response: begun });
  yield event("response.in_progress", { response: begun });
  for (const [output_index, item] of itemsOf(reply).entries()) {
    yield event("response.output_item.added", { output_index, item: item.start });
    for (const { type, fields } of item.steps) yield event(type, { output_index, ...fields });
    yield event("response.output_item.done", { output_index, item: item.whole });
  }
  const whole = encodeResponsesWhole(reply, body);
  const type = isIncomplete(reply) ? "response.incomplete" : "response.completed";
  yield { ...event(type, { response: whole }), isEnd: true };
}

/** Encodes a reply as one JSON value. */
export function encodeResponsesWhole(reply: FinishedReply, body: JsonRecord): unknown {
  const reason = reply.stopReason === "max-tokens" ? "max_output_tokens" : "content_filter";
  return {
    ...envelope(reply, body),
    status: isIncomplete(reply) ? "incomplete" : "completed",
    incomplete_details: isIncomplete(reply) ? { reason } : null,
    output: encodeOutput(reply),
    usage: usageOf(reply),
  };
}

/** The items of a reply, as in the output and in the input of the next request. */
export function encodeOutput(reply: FinishedReply): object[] {
  return itemsOf(reply).map((item) => item.whole);
}

export function encodeResponsesTrouble({ type = "server_error", message }: VendorError): string {
  const data = { type: "error", code: type, message, param: null, sequence_number: 0 };
  return encodeSse({ event: "error", data: JSON.stringify(data) });
}

function isIncomplete({ stopReason }: FinishedReply): boolean {
  return stopReason === "max-tokens" || stopReason === "content-filter";
}

function itemsOf(reply: FinishedReply): OutputItem[] {
  const items: OutputItem[] = [];
  if (reply.thinking !== undefined) items.push(reasoningItem(reply.id, reply.thinking.pieces));
  if (reply.textPieces.length > 0) items.push(messageItem(reply));
  reply.calls.forEach((call, index) => items.push(callItem(call, `fc_${reply.id}${index}`)));
  return items;
}

function reasoningItem(id: string, pieces: readonly string[]): OutputItem {
  const item_id = `rs_${id}`;
  const text = pieces.join("");
  const part = { type: "summary_text", text };
  return {
    start: { id: item_id, type: "reasoning", summary: [] },
    steps: [
      {
        type: "response.reasoning_summary_part.added",
        fields: { item_id, summary_index: 0, part: { ...part, text: "" } },
      },
      ...pieces.map((delta) => ({
        type: "response.reasoning_summary_text.delta",
        fields: { item_id, summary_index: 0, delta },
      })),
      { type: "response.reasoning_summary_text.done", fields: { item_id, summary_index: 0, text } },
      { type: "response.reasoning_summary_part.done", fields: { item_id, summary_index: 0, part } },
    ],
    whole: { id: item_id, type: "reasoning", summary: [part] },
  };
}

function messageItem(reply: FinishedReply): OutputItem {
  const item_id = `msg_${reply.id}`;
  const text = reply.textPieces.join("");
  const isRefused = reply.stopReason === "refusal";
  const kind = isRefused ? "response.refusal" : "response.output_text";
  const at = { item_id, content_index: 0 };
  const part = (content: string): object =>
    isRefused
      ? { type: "refusal", refusal: content }
      : { type: "output_text", text: content, annotations: [], logprobs: [] };
  const message = { id: item_id, type: "message", role: "assistant" };
  const status = isIncomplete(reply) ? "incomplete" : "completed";
  return {
    start: { ...message, status: "in_progress", content: [] },
    steps: [
      { type: "response.content_part.added", fields: { ...at, part: part("") } },
      ...reply.textPieces.map((delta) => ({
        type: `${kind}.delta`,
        fields: { ...at, delta, ...(!isRefused && { logprobs: [] }) },
      })),
      { type: `${kind}.done`, fields: { ...at, ...(isRefused ? { refusal: text } : { text, logprobs: [] }) } },
      { type: "response.content_part.done", fields: { ...at, part: part(text) } },
    ],
    whole: { ...message, status, content: [part(text)] },
  };
}

function callItem(call: FinishedReply["calls"][number], item_id: string): OutputItem {
  const fields = { id: item_id, type: "function_call", call_id: call.id, name: call.name };
  return {
    start: { ...fields, arguments: "", status: "in_progress" },
    steps: [
      ...splitEvery(call.json, FRAGMENT).map((delta) => ({
        type: "response.function_call_arguments.delta",
        fields: { item_id, delta },
      })),
      { type: "response.function_call_arguments.done", fields: { item_id, name: call.name, arguments: call.json } },
    ],
    whole: { ...fields, arguments: call.json, status: "completed" },
  };
}

function envelope(reply: FinishedReply, body: JsonRecord): object {
  return {
    id: `resp_${reply.id}`,
    object: "response",
    created_at: Math.floor(reply.createdMs / 1000),
    model: reply.model,
    error: null,
    incomplete_details: null,
    instructions: ownString(body, "instructions") ?? null,
    metadata: ownValue(body, "metadata") ?? {},
    parallel_tool_calls: body.parallel_tool_calls !== false,
    previous_response_id: ownString(body, "previous_response_id") ?? null,
    store: body.store !== false,
    temperature: ownValue(body, "temperature") ?? 1,
    text: ownValue(body, "text") ?? { format: { type: "text" } },
    tool_choice: ownValue(body, "tool_choice") ?? "auto",
    tools: ownArray(body, "tools") ?? [],
    top_p: ownValue(body, "top_p") ?? 1,
    truncation: "disabled",
  };
}

function usageOf({ usage }: FinishedReply): object {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}
