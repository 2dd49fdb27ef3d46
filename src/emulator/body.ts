import type { Clock } from "#domain";
import { unreachable } from "#domain";
import type { Step } from "./fault-steps.ts";
import { pause, waitForAbort } from "./pause.ts";
import { ConnectionBroken } from "./request.ts";

/** Small events are put together up to this size when nothing is to be seen between them: a write costs a system call. */
const WRITE_BYTES = 16 * 1024;

export interface Playing {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Wait before every write but the first. */
  readonly betweenMs: number;
  /** Wait before every write. */
  readonly slowMs: number;
  /** Keep every piece a write of its own. */
  readonly keepPieces: boolean;
}

/** Sends steps as bytes, at their pace. Pulling slowly slows it down; it makes nothing ahead of its reader. */
export async function* playBody(steps: Iterable<Step>, playing: Playing): AsyncGenerator<Uint8Array, void, undefined> {
  const { clock, signal, betweenMs, slowMs } = playing;
  const waits = betweenMs > 0 || slowMs > 0;
  let isFirst = true;
  for (const step of waits || playing.keepPieces ? steps : putTogether(steps)) {
    signal.throwIfAborted();
    switch (step.kind) {
      case "bytes": {
        const ms = slowMs + (isFirst ? 0 : betweenMs);
        isFirst = false;
        if (ms > 0) await pause(clock, ms, signal);
        yield step.bytes;
        break;
      }
      case "stall":
        await waitForAbort(signal);
        break;
      case "reset":
        throw new ConnectionBroken();
      default:
        unreachable(step);
    }
  }
}

function* putTogether(steps: Iterable<Step>): Generator<Step> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  const take = (): Step => {
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const part of waiting) {
      bytes.set(part, at);
      at += part.length;
    }
    waiting = [];
    size = 0;
    return { kind: "bytes", bytes };
  };
  for (const step of steps) {
    if (step.kind !== "bytes") {
      if (size > 0) yield take();
      yield step;
      continue;
    }
    waiting.push(step.bytes);
    size += step.bytes.length;
    if (size >= WRITE_BYTES) yield take();
  }
  if (size > 0) yield take();
}
