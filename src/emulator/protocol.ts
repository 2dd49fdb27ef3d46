import type { JsonRecord } from "#wire";
import type { ModelPrompt, ProtocolName } from "./prompt.ts";
import type { Refusal } from "./refusal.ts";
import type { FinishedReply } from "./reply.ts";
import type { ApiRequest } from "./request.ts";

/** One unit of a streamed reply. `isEnd` marks what tells a reader that the reply is whole. */
export interface WireEvent {
  readonly text: string;
  readonly isEnd?: boolean;
}

/** An error a fault asks for: the vendor's name for it, and its text. */
export interface Trouble {
  readonly type: string | undefined;
  readonly message: string;
}

/** One vendor's way to ask and to answer. Pure but for its `memory`: the server around it owns time, ids and bytes. */
export interface Protocol {
  readonly name: ProtocolName;
  /** Refuses a request without a key, as the vendor does. Throws a `Refusal`. */
  checkKey(request: ApiRequest): void;
  /** Refuses what the vendor refuses. Throws a `Refusal`. */
  check(request: ApiRequest, body: JsonRecord): void;
  /** Reads as much as can be read; what `check` would refuse is skipped. */
  read(request: ApiRequest, body: JsonRecord): ModelPrompt;
  /** The content type of a streamed reply to this request. */
  streamType(request: ApiRequest): string;
  encodeStream(
    reply: FinishedReply,
    asked: { readonly request: ApiRequest; readonly body: JsonRecord },
  ): Iterable<WireEvent>;
  encodeWhole(reply: FinishedReply, body: JsonRecord): unknown;
  /** An `error` in the middle of a stream. */
  encodeTrouble(trouble: Trouble, request: ApiRequest): string;
  /** A frame that cannot be read. */
  readonly malformedFrame: string;
  readonly errors: ErrorShape;
  /** Only where the vendor keeps conversations itself. */
  readonly memory?: ProtocolMemory;
}

/** Replies a later request may refer to instead of repeating them. */
export interface ProtocolMemory {
  /** The body with what it refers to put in. Throws a `Refusal` when that is not known. */
  expand(body: JsonRecord): JsonRecord;
  remember(reply: FinishedReply, body: JsonRecord): void;
}

/** How a vendor says no. */
export interface ErrorShape {
  status(refusal: Refusal): number;
  encode(refusal: Refusal, requestId: string): unknown;
  /** The body that goes with a status a fault asked for. */
  encodeStatus(status: number, trouble: Trouble, requestId: string): unknown;
  /** What the vendor puts on every answer. */
  headers(requestId: string): Record<string, string>;
}
