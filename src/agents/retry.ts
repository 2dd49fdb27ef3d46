import { type ChunkOf, type Clock, type ErrorCode, type ErrorItem, errorItem, type Random } from "#domain";

/** When and how often a failed request to a model is retried. */
export interface RetryOptions {
  /** Total number of attempts, including the first one. Default 4. */
  readonly attempts?: number;
  /** Maximum total time of all waits between attempts. Default 60 000. */
  readonly totalMs?: number;
  /**
   * Also retry if part of the answer was already shown, which is then retracted. Default `false`: retry only before the
   * first token.
   */
  readonly afterFirstToken?: boolean;
}

const BASE_MS = 500;
const CAP_MS = 16_000;

const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "provider-overloaded",
  "provider-rate-limited",
  "provider-unreachable",
  "stream-cut",
  "stalled",
]);

/** Whether the same request may succeed a moment later. A request that was rejected as invalid never does. */
export function isPassing(error: ChunkOf<ErrorItem>): boolean {
  if (PASSING.has(error.code)) return true;
  const status = error.diagnostic?.status;
  return error.code === "provider-error" && (status === undefined || status >= 500 || status === 408 || status === 409);
}

/** The retries of one turn. All retries happen here; no lower layer retries by itself. */
export interface RetryPlan {
  readonly attempt: number;
  readonly attempts: number;
  /** Returns the wait before the next attempt in milliseconds, or `undefined` if there is no further attempt. */
  nextDelay(error: ChunkOf<ErrorItem>): number | undefined;
  /**
   * Returns the error that ends the turn. Its message says so if the host asked for a longer wait than `retry.totalMs`
   * allows.
   */
  lastError(error: ChunkOf<ErrorItem>): ChunkOf<ErrorItem>;
}

/** Uses full jitter, so that runs which failed at the same time do not retry at the same time. */
export function createRetryPlan(options: RetryOptions | false | undefined, random: Random): RetryPlan {
  const attempts = options === false ? 1 : (options?.attempts ?? 4);
  const totalMs = options === false ? 0 : (options?.totalMs ?? 60_000);
  let attempt = 1;
  let waited = 0;
  return {
    get attempt() {
      return attempt;
    },
    attempts,
    nextDelay(error) {
      if (attempt >= attempts || !isPassing(error)) return undefined;
      const jittered = random.next() * Math.min(CAP_MS, BASE_MS * 2 ** attempt);
      const delay = Math.max(jittered, error.diagnostic?.retryAfterMs ?? 0);
      if (waited + delay > totalMs) return undefined;
      waited += delay;
      attempt += 1;
      return Math.round(delay);
    },
    lastError(error) {
      const asked = error.diagnostic?.retryAfterMs ?? 0;
      if (options === false || !isPassing(error) || waited + asked <= totalMs) return error;
      const { code, message, terminal, diagnostic, raw } = error;
      const why = `It asks for a wait of ${asked} ms before the next try; retry.totalMs allows ${totalMs} ms in all.`;
      const detail = { code, message: `${message.replace(/[.\s]+$/, "")}. ${why}`, terminal };
      return errorItem(
        { ...detail, ...(diagnostic !== undefined && { diagnostic }) },
        raw === undefined ? {} : { raw },
      );
    },
  };
}

/** Waits for `ms` milliseconds, or until `signal` is aborted. */
export function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const finish = (): void => {
      takeBack();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const takeBack = clock.after(ms, finish);
    signal.addEventListener("abort", finish, { once: true });
  });
}
