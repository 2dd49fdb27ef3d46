import { asksPerson, type Clock, describeThrown, elapsedSince } from "#domain";
import type { AbortWatch } from "./abort-watch.ts";

/** The time limit of a hook, a guard or a permission callback that sets none. */
export const DEFAULT_LIMIT_MS = 60_000;

/** Shorter limits are raised to this: on a busy machine they would deny by accident. */
export const SHORTEST_LIMIT_MS = 1_000;

/** The time limit of a hook or a guard. */
export function limitOf(timeoutMs: number | undefined): number {
  return Math.max(SHORTEST_LIMIT_MS, timeoutMs ?? DEFAULT_LIMIT_MS);
}

/** The time limit of a permission callback. `undefined` if the callback asks a person or the limit is `Infinity`. */
export function permissionLimit(callback: unknown, permissionMs: number | undefined): number | undefined {
  const limit = limitOf(permissionMs);
  return asksPerson(callback) || limit === Number.POSITIVE_INFINITY ? undefined : limit;
}

/** The outcome of calling one of the caller's functions. */
export type LimitedAnswer =
  | { readonly kind: "answered"; readonly value: unknown }
  | { readonly kind: "failed"; readonly why: string }
  | { readonly kind: "aborted" };

export interface LimitedCall {
  /** The caller's function. Its signal fires when its time is up or the run is aborted. */
  readonly start: (signal: AbortSignal) => unknown;
  /** Without one, there is no time limit. */
  readonly limitMs: number | undefined;
  /** Without one, the function is called even if the run is aborted. */
  readonly watch: AbortWatch | undefined;
  readonly clock: Clock;
}

/**
 * Calls one of the caller's functions and waits for its answer, its time limit or an abort, whichever comes first;
 * anything later is ignored. Never rejects. After an abort the function is not called at all.
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
    // Settle before the signal fires, so that an answer given because of the abort is ignored.
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
     * A busy event loop fires timers late, and timers of different lengths in any order: an answer may arrive before a
     * limit timer that is already due. An answer in the second half of the limit therefore waits until all due timers
     * have fired.
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

/** Turns a throw, a rejection and a thenable into an ordinary promise. */
async function call(start: LimitedCall["start"], signal: AbortSignal): Promise<unknown> {
  return await start(signal);
}
