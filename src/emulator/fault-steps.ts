import type { Fault } from "./fault.ts";
import type { Protocol, WireEvent } from "./protocol.ts";
import type { ApiRequest } from "./request.ts";

/** The protocol in which a fault is written. */
export interface FaultContext {
  readonly protocol: Protocol;
  readonly request: ApiRequest;
}

/** One step of sending a body. */
export type Step =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "stall" }
  | { readonly kind: "reset" };

const STALL: Step = { kind: "stall" };
const RESET: Step = { kind: "reset" };

/** Turns the events of a reply into steps, and applies the faults that concern whole events. */
export function* planEvents(events: Iterable<WireEvent>, fault: Fault, speaker: FaultContext): Generator<Step> {
  const encoder = new TextEncoder();
  const sends = (text: string): Step => ({ kind: "bytes", bytes: encoder.encode(text) });
  let count = 0;
  for (const event of events) {
    if (yield* interrupt(count, fault, speaker)) return;
    const isLeftOut = fault.dropEvent === count || (fault.noEnd === true && event.isEnd === true);
    if (!isLeftOut) yield sends(event.text);
    if (fault.repeatEvent === count) yield sends(event.text);
    count += 1;
  }
  yield* interrupt(count, fault, speaker);
}

/** Applies a fault before the event number `count`. Returns whether the body is over. */
function* interrupt(count: number, fault: Fault, { protocol, request }: FaultContext): Generator<Step, boolean> {
  const encoder = new TextEncoder();
  if (fault.malformedFrameAfterEvents === count) {
    yield { kind: "bytes", bytes: encoder.encode(protocol.malformedFrame) };
  }
  if (fault.invalidUtf8AfterEvents === count) yield { kind: "bytes", bytes: spoil(protocol.malformedFrame) };
  if (fault.errorEventAfterEvents === count) {
    const trouble = { type: fault.type, message: fault.message ?? "The offline server was asked to fail here." };
    yield { kind: "bytes", bytes: encoder.encode(protocol.encodeTrouble(trouble, request)) };
    return true;
  }
  if (fault.stallAfterEvents === count) {
    yield STALL;
    return true;
  }
  if (fault.resetAfterEvents === count) {
    yield RESET;
    return true;
  }
  return fault.cutAfterEvents === count;
}

/** A frame with a byte that is not valid UTF-8. */
function spoil(frame: string): Uint8Array {
  const bytes = new TextEncoder().encode(frame);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = 0xff;
  return bytes;
}

/** Applies the faults at a byte position, anywhere within an event. */
export function* planBytes(steps: Iterable<Step>, fault: Fault): Generator<Step> {
  const limit = Math.min(
    fault.cutAfterBytes ?? Number.POSITIVE_INFINITY,
    fault.stallAfterBytes ?? Number.POSITIVE_INFINITY,
    fault.resetAfterBytes ?? Number.POSITIVE_INFINITY,
  );
  let sent = 0;
  for (const step of steps) {
    if (step.kind !== "bytes") {
      yield step;
      continue;
    }
    const left = limit - sent;
    if (step.bytes.length < left) {
      sent += step.bytes.length;
      yield* inPieces(step.bytes, fault.pieceBytes);
      continue;
    }
    yield* inPieces(step.bytes.subarray(0, left), fault.pieceBytes);
    if (fault.stallAfterBytes === limit) yield STALL;
    else if (fault.resetAfterBytes === limit) yield RESET;
    return;
  }
}

function* inPieces(bytes: Uint8Array, size = bytes.length): Generator<Step> {
  for (let start = 0; start < bytes.length; start += size) {
    yield { kind: "bytes", bytes: bytes.subarray(start, start + size) };
  }
}
