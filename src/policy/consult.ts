import { type Clock, describeThrown } from "#domain";
import type { AbortWatch } from "./abort-watch.ts";

/** The time a hook or a guard has when it names none. */
export const DEFAULT_LIMIT_MS = 60_000;

/** Less than this is taken as this: a busy machine would deny by accident. */
export const SHORTEST_LIMIT_MS = 1_000;

/** The time a hook or a guard gets. */
export function limitOf(timeoutMs: number | undefined): number {
  return Math.max(SHORTEST_LIMIT_MS, timeoutMs ?? DEFAULT_LIMIT_MS);
}

/** What came of asking a function of the caller's. */
export type Consulted =
  | { readonly kind: "answered"; readonly value: unknown }
  | { readonly kind: "failed"; readonly why: string }
  | { readonly kind: "aborted" };

export interface Consultation {
  /** The caller's function. Its signal fires when its time is up or the run is aborted. */
  readonly start: (signal: AbortSignal) => unknown;
  /** Without one it may take as long as it likes. */
  readonly limitMs: number | undefined;
  /** Without one it is asked whether or not the run is aborted. */
  readonly watch: AbortWatch | undefined;
  readonly clock: Clock;
}

/**
 * Calls a function of the caller's and waits for its answer, its limit or an abort, whichever is first; what comes
 * after that changes nothing. Never rejects. After an abort the function is not even started.
 */
export function consult({ start, limitMs, watch, clock }: Consultation): Promise<Consulted> {
  if (watch?.signal.aborted === true) return Promise.resolve({ kind: "aborted" });
  const controller = new AbortController();
  return new Promise<Consulted>((resolve) => {
    const settle = (consulted: Consulted): void => {
      stopClock();
      unwatch?.();
      resolve(consulted);
    };
    // Settled before the signal fires: what a function answers because it is being stopped comes too late.
    const onAbort = (): void => {
      settle({ kind: "aborted" });
      controller.abort(watch?.signal.reason);
    };
    const unwatch = watch?.add(onAbort);
    const onLate = (): void => {
      settle({ kind: "failed", why: `did not answer within ${limitMs} ms` });
      controller.abort(new DOMException(`There were ${limitMs} ms to answer.`, "TimeoutError"));
    };
    const stopClock = limitMs === undefined ? () => undefined : clock.after(limitMs, onLate);
    call(start, controller.signal).then(
      (value) => settle({ kind: "answered", value }),
      (thrown) => settle({ kind: "failed", why: `threw: ${describe(thrown)}` }),
    );
  });
}

/** Makes a throw, a rejection and a promise that only looks like one all the same. */
async function call(start: Consultation["start"], signal: AbortSignal): Promise<unknown> {
  return await start(signal);
}

/** An error may be made so that looking at it throws again. */
function describe(thrown: unknown): string {
  try {
    return describeThrown(thrown);
  } catch {
    return "a value that cannot be printed";
  }
}
