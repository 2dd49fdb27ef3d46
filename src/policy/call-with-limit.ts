import { asksPerson, type Clock, describeThrown, elapsedSince } from "#domain";
import type { AbortWatch } from "./abort-watch.ts";

/** The time a hook, a guard or a permission callback has when none is named. */
export const DEFAULT_LIMIT_MS = 60_000;

/** Less than this is taken as this: a busy machine would deny by accident. */
export const SHORTEST_LIMIT_MS = 1_000;

/** The time a hook or a guard gets. */
export function limitOf(timeoutMs: number | undefined): number {
  return Math.max(SHORTEST_LIMIT_MS, timeoutMs ?? DEFAULT_LIMIT_MS);
}

/** The time a permission callback gets. None (`undefined`) for a person, and for who chose `Infinity`. */
export function permissionLimit(callback: unknown, permissionMs: number | undefined): number | undefined {
  const limit = limitOf(permissionMs);
  return asksPerson(callback) || limit === Number.POSITIVE_INFINITY ? undefined : limit;
}

/** What came of asking a function of the caller's. */
export type LimitedAnswer =
  | { readonly kind: "answered"; readonly value: unknown }
  | { readonly kind: "failed"; readonly why: string }
  | { readonly kind: "aborted" };

export interface LimitedCall {
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
export function callWithLimit({ start, limitMs, watch, clock }: LimitedCall): Promise<LimitedAnswer> {
  if (watch?.signal.aborted === true) return Promise.resolve({ kind: "aborted" });
  const controller = new AbortController();
  const startedAt = clock.now();
  return new Promise<LimitedAnswer>((resolve) => {
    const settle = (answer: LimitedAnswer): void => {
      stopClock();
      unwatch?.();
      resolve(answer);
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
    /**
     * A busy event loop fires timers late, and those of different lengths in any order: an answer may arrive before the
     * timer that has run out. So an answer that is not early waits until every timer that is due has fired.
     */
    const onAnswer = (value: unknown): void => {
      const elapsed = elapsedSince(clock, startedAt);
      if (limitMs !== undefined && elapsed >= limitMs) onLate();
      else if (limitMs === undefined || elapsed < limitMs / 2) settle({ kind: "answered", value });
      else clock.after(0, () => settle({ kind: "answered", value }));
    };
    call(start, controller.signal).then(onAnswer, (thrown) =>
      settle({ kind: "failed", why: `threw: ${describeThrown(thrown)}` }),
    );
  });
}

/** Makes a throw, a rejection and a promise that only looks like one all the same. */
async function call(start: LimitedCall["start"], signal: AbortSignal): Promise<unknown> {
  return await start(signal);
}
