import { type Clock, unreachable } from "#domain";
import { followSignal } from "#streams";
import type { Step } from "./fault-steps.ts";
import { ConnectionBroken } from "./request.ts";

/** Small events are merged up to this size if nothing separates them, because each write is a system call. */
const WRITE_BYTES = 16 * 1024;

export interface Playing {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The delay before every write except the first. */
  readonly betweenMs: number;
  /** The delay before every write. */
  readonly slowMs: number;
  /** Send every piece as a separate write. */
  readonly keepPieces: boolean;
}

/** Sends steps as bytes, with their delays. It is pulled by its reader and prepares nothing ahead. */
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

/** Waits for `ms`; rejects with the signal's reason as soon as it is aborted. Leaves no timer and no listener. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let unfollow = (): void => undefined;
    const takeBack = clock.after(ms, () => {
      unfollow();
      resolve();
    });
    unfollow = followSignal(signal, (reason) => {
      takeBack();
      reject(reason);
    });
  });
}

/** Rejects when the signal is aborted; never resolves. */
export function waitForAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => followSignal(signal, reject));
}
