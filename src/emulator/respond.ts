import type { Clock } from "#domain";
import type { JsonRecord } from "#wire";
import { playBody } from "./body.ts";
import type { Fault } from "./fault.ts";
import { planBytes, planEvents } from "./fault-steps.ts";
import type { ModelPrompt } from "./prompt.ts";
import type { ErrorShape, Protocol, WireEvent } from "./protocol.ts";
import type { FinishedReply } from "./reply.ts";
import type { ApiRequest, ApiResponse } from "./request.ts";

const JSON_TYPE = "application/json";

/** A JSON value as a response. */
export function respondJson(status: number, value: unknown, headers: Readonly<Record<string, string>>): ApiResponse {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return {
    status,
    headers: { ...headers, "content-type": JSON_TYPE, "content-length": String(bytes.length) },
    body: once(bytes),
  };
}

/** The status that a fault requests, with its body or the vendor's. */
export function respondStatus(
  fault: Fault,
  { errors, requestId }: { readonly errors: ErrorShape; readonly requestId: string },
): ApiResponse {
  const status = fault.status ?? 500;
  const trouble = { type: fault.type, message: fault.message ?? `The offline server was asked to answer ${status}.` };
  const value = fault.body ?? errors.encodeStatus(status, trouble, requestId);
  const bytes = new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
  return {
    status,
    headers: {
      ...errors.headers(requestId),
      "content-type": fault.contentType ?? (typeof value === "string" ? "text/plain; charset=utf-8" : JSON_TYPE),
      ...(fault.retryAfter !== undefined && { "retry-after": String(fault.retryAfter) }),
    },
    body: once(bytes),
  };
}

export interface Responding {
  readonly protocol: Protocol;
  readonly request: ApiRequest;
  readonly body: JsonRecord;
  readonly prompt: ModelPrompt;
  readonly fault: Fault;
  readonly clock: Clock;
  readonly requestId: string;
  readonly betweenMs: number;
}

/** A reply, streamed or whole, with its fault applied. */
export function respondReply(reply: FinishedReply, responding: Responding): ApiResponse {
  const { protocol, request, body, prompt, fault, clock, betweenMs } = responding;
  const events = prompt.stream
    ? protocol.encodeStream(reply, { request, body })
    : wholeEvents(JSON.stringify(protocol.encodeWhole(reply, body)));
  const steps = planBytes(planEvents(events, fault, { protocol, request }), fault);
  return {
    status: 200,
    headers: {
      ...protocol.errors.headers(responding.requestId),
      "content-type": fault.contentType ?? (prompt.stream ? protocol.streamType(request) : JSON_TYPE),
      ...(prompt.stream && { "cache-control": "no-cache" }),
    },
    body: playBody(steps, {
      clock,
      signal: request.signal,
      betweenMs,
      slowMs: fault.slowMs ?? 0,
      keepPieces: fault.pieceBytes !== undefined,
    }),
  };
}

/** The last brace of a whole reply is its end: without it, a reader knows that it is incomplete. */
function* wholeEvents(json: string): Generator<WireEvent> {
  yield { text: json.slice(0, -1) };
  yield { text: json.slice(-1), isEnd: true };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  if (bytes.length > 0) yield bytes;
}
