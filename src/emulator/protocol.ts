import type { JsonRecord } from "#wire";
import type { ModelPrompt, ProtocolName } from "./prompt.ts";
import type { Refusal } from "./refusal.ts";
import type { FinishedReply } from "./reply.ts";
import type { ApiRequest } from "./request.ts";

/** One unit of a streamed reply. `isEnd` marks a unit that shows the reader that the reply is complete. */
export interface WireEvent {
  readonly text: string;
  readonly isEnd?: boolean;
}

/** An error that a fault requests: the vendor's name for it, and its text. */
export interface VendorError {
  readonly type: string | undefined;
  readonly message: string;
}

/** One vendor's format of requests and replies. Pure except for its `memory`: the server owns time, ids and bytes. */
export interface Protocol {
  readonly name: ProtocolName;
  /** Refuses a request without a key, as the vendor does. Throws a `Refusal`. */
  checkKey(request: ApiRequest): void;
  /** Refuses what the vendor refuses. Throws a `Refusal`. */
  check(request: ApiRequest, body: JsonRecord): void;
  /** Reads as much as possible; skips what `check` would refuse. */
  read(request: ApiRequest, body: JsonRecord): ModelPrompt;
  /** The content type of a streamed reply to this request. */
  streamType(request: ApiRequest): string;
  encodeStream(
    reply: FinishedReply,
    asked: { readonly request: ApiRequest; readonly body: JsonRecord },
  ): Iterable<WireEvent>;
  encodeWhole(reply: FinishedReply, body: JsonRecord): unknown;
  /** An `error` in the middle of a stream. */
  encodeTrouble(trouble: VendorError, request: ApiRequest): string;
  /** A frame that cannot be read. */
  readonly malformedFrame: string;
  readonly errors: ErrorShape;
  /** Only if the vendor stores conversations itself. */
  readonly memory?: ProtocolMemory;
}

/** Replies that a later request may refer to instead of repeating them. */
export interface ProtocolMemory {
  /** Replaces references in the body by what they refer to. Throws a `Refusal` if that is unknown. */
  expand(body: JsonRecord): JsonRecord;
  remember(reply: FinishedReply, body: JsonRecord): void;
}

/** The format of a vendor's errors. */
export interface ErrorShape {
  status(refusal: Refusal): number;
  encode(refusal: Refusal, requestId: string): unknown;
  /** The body for a status that a fault requests. */
  encodeStatus(status: number, trouble: VendorError, requestId: string): unknown;
  /** The headers that the vendor adds to every answer. */
  headers(requestId: string): Record<string, string>;
}
