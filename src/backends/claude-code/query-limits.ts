import { aSignal, type Check, checkInput, type Clock, type ErrorDetail, shape, wholeNumber } from "#domain";
import { followSignal } from "#streams";
import { checkClaudeCodeOptions, type ClaudeCodeOptions } from "./options.ts";

/**
 * The options of a query: those of the CLI, and limits from outside.
 *
 * @example
 * const options: QueryOptions = { model: "sonnet", timeoutMs: 600_000, idleMs: 60_000, signal: AbortSignal.timeout(900_000) }
 */
export interface QueryOptions extends ClaudeCodeOptions {
  /** Aborting it closes the query: the error `aborted`, then the end. After a result just the end. */
  readonly signal?: AbortSignal;
  /**
   * The maximum duration of the whole query, including its start: then the error `timeout`, and the end. Default: no
   * limit.
   */
  readonly timeoutMs?: number;
  /**
   * The maximum silence of the CLI while an item is awaited: then the error `stalled`, and the end. After a result,
   * background work is left instead, with the warning `background-left`. Default: no limit; 300 000 after a result.
   */
  readonly idleMs?: number;
}

/** The limits of a query from outside. */
export type QueryLimits = Pick<QueryOptions, "signal" | "timeoutMs" | "idleMs">;

/** The maximum of Node's timers. */
const LONGEST_MS = 2_147_483_647;

const LIMIT_CHECKS = {
  signal: aSignal,
  timeoutMs: wholeNumber(1, LONGEST_MS),
  idleMs: wholeNumber(1, LONGEST_MS),
} satisfies Record<keyof QueryLimits, Check>;

/** The limits of a query and the options for the CLI, all checked. @throws StartError `invalid-option`. */
export function splitQueryOptions(given: QueryOptions): {
  readonly limits: QueryLimits;
  readonly options: ClaudeCodeOptions;
} {
  const options = checkClaudeCodeOptions(given, Object.keys(LIMIT_CHECKS), "query");
  const { signal, timeoutMs, idleMs } = (given ?? {}) as QueryOptions;
  const limits = Object.fromEntries(
    Object.entries({ signal, timeoutMs, idleMs }).filter(([, value]) => (value ?? undefined) !== undefined),
  );
  checkInput(shape(LIMIT_CHECKS), limits, "");
  return { limits, options };
}

/** Watches the signal and the time limit of one query. */
export interface OutsideEnd {
  /** Why the query is over; `undefined` as long as it may continue. */
  readonly error: ErrorDetail | undefined;
  /** Calls `end` once, when the query is over; at once if it is already. */
  onEnd(end: (error: ErrorDetail) => void): void;
  /** Removes its timer and its listener. Idempotent. */
  stop(): void;
}

/** Starts to watch: the time limit counts from here. */
export function watchOutside({ signal, timeoutMs }: QueryLimits, clock: Clock): OutsideEnd {
  let error: ErrorDetail | undefined;
  let tell: ((error: ErrorDetail) => void) | undefined;
  let stopClock = (): void => undefined;
  let unfollow = (): void => undefined;
  const stop = (): void => {
    stopClock();
    unfollow();
  };
  const end = (code: "timeout" | "aborted", message: string): void => {
    if (error !== undefined) return;
    error = { code, message, terminal: true };
    stop();
    tell?.(error);
  };
  if (timeoutMs !== undefined) {
    const message = `The query took longer than timeoutMs, ${timeoutMs} ms. Raise it, or ask for less at once.`;
    stopClock = clock.after(timeoutMs, () => end("timeout", message));
  }
  if (signal !== undefined)
    unfollow = followSignal(signal, () => end("aborted", "The query was aborted by its signal."));
  return {
    get error() {
      return error;
    },
    onEnd(given) {
      tell = given;
      if (error !== undefined) given(error);
    },
    stop,
  };
}

/** The error for a CLI that was silent for too long. */
export function stalledError(silentMs: number): ErrorDetail {
  return {
    code: "stalled",
    message: `Claude Code has written nothing for ${silentMs} ms (idleMs). Raise the limit if it may work longer without output.`,
    terminal: true,
  };
}
