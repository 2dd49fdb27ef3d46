import { type Clock, describeThrown } from "#domain";
import { inTime } from "#streams";
import type { JobsWanted, QueueCounts, QueuedJob, RunQueue, TakenJob } from "./queue.ts";
import { isQueueError, QueueError } from "./queue-error.ts";
import { queueClosed, requireJob, requireKinds } from "./queue-rules.ts";

/** What a driver knows of its engine. Errors of any kind mean that the engine did not answer. */
export interface QueueEngine {
  add(job: QueuedJob & { readonly kind: string }): Promise<void>;
  /** The next job of this kind; `undefined` if there is none now. May wait for one. */
  fetch(kind: string): Promise<EngineJob | undefined>;
  count(): Promise<QueueCounts>;
  close(): Promise<void>;
}

/** A job as the engine gave it out. */
export interface EngineJob extends Pick<TakenJob, "runId" | "kind" | "isHandOver"> {
  /** Each resolves to `false` if the engine says that it is not held any more. */
  extend(): Promise<boolean>;
  finish(): Promise<boolean>;
  giveBack(): Promise<boolean>;
}

export interface EngineQueueOptions {
  readonly clock: Clock;
  /** The time between two extensions of a lock. */
  readonly extendMs: number;
  /** The time between two looks at an engine that does not wait by itself. */
  readonly pollMs: number;
  /** How long the engine may take to answer. */
  readonly answerMs: number;
}

interface Waiting {
  readonly kinds: readonly string[];
  readonly end: (outcome: EngineJob | undefined, failure?: QueueError) => void;
}

interface Held {
  readonly job: EngineJob;
  readonly lost: AbortController;
  stopTimer: () => void;
}

/** A queue over an engine that locks jobs for a time: extends the locks, and shares what is fetched among those who wait. */
export class EngineQueue implements RunQueue {
  private readonly _engine: QueueEngine;
  private readonly _options: EngineQueueOptions;
  private readonly _waiting = new Set<Waiting>();
  private readonly _held = new Set<Held>();
  /** The kinds that are being fetched, with what wakes their loops. */
  private readonly _loops = new Map<string, () => void>();
  private _closing: Promise<void> | undefined;

  constructor(engine: QueueEngine, options: EngineQueueOptions) {
    this._engine = engine;
    this._options = options;
  }

  async add(given: QueuedJob): Promise<void> {
    this._requireOpen();
    const job = requireJob(given);
    await this._answered(this._engine.add(job));
    this._loops.get(job.kind)?.();
  }

  async take(wanted: JobsWanted): Promise<TakenJob | undefined> {
    this._requireOpen();
    const kinds = requireKinds(wanted);
    const { signal } = wanted;
    if (signal?.aborted === true) return undefined;
    const job = await this._wait(kinds, signal);
    return job && this._hold(job);
  }

  async count(): Promise<QueueCounts> {
    this._requireOpen();
    return this._answered(this._engine.count());
  }

  close(): Promise<void> {
    this._closing ??= this._close();
    return this._closing;
  }

  private async _close(): Promise<void> {
    for (const one of this._waiting) one.end(undefined);
    for (const wake of this._loops.values()) wake();
    const given = [...this._held].map((held) => this._end(held, () => held.job.giveBack()).catch(() => false));
    await Promise.all(given);
    await this._answered(this._engine.close()).catch(() => undefined);
  }

  private _requireOpen(): void {
    if (this._closing !== undefined) throw queueClosed();
  }

  private _wait(kinds: readonly string[], signal: AbortSignal | undefined): Promise<EngineJob | undefined> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => waiting.end(undefined);
      const waiting: Waiting = {
        kinds,
        end: (job, failure) => {
          this._waiting.delete(waiting);
          signal?.removeEventListener("abort", onAbort);
          if (failure === undefined) resolve(job);
          else reject(failure);
        },
      };
      signal?.addEventListener("abort", onAbort);
      this._waiting.add(waiting);
      for (const kind of kinds) this._startLoop(kind);
    });
  }

  private _startLoop(kind: string): void {
    const wake = this._loops.get(kind);
    if (wake !== undefined) return wake();
    this._loops.set(kind, () => undefined);
    const end = (): void => {
      this._loops.delete(kind);
      // Someone may have come while the loop was ending.
      if (this._firstFor(kind) !== undefined) this._startLoop(kind);
    };
    this._fetchAll(kind).then(end, end);
  }

  private _firstFor(kind: string): Waiting | undefined {
    for (const waiting of this._waiting) if (waiting.kinds.includes(kind)) return waiting;
    return undefined;
  }

  /** Fetches jobs while someone waits for them. Never rejects. */
  private async _fetchAll(kind: string): Promise<void> {
    while (this._firstFor(kind) !== undefined) {
      try {
        const job = await this._engine.fetch(kind);
        const waiting = job && this._firstFor(kind);
        if (waiting !== undefined) waiting.end(job);
        else if (job === undefined) await this._pause(kind);
        else await job.giveBack();
      } catch (error) {
        const failure = asQueueError(error);
        for (const waiting of this._waiting) if (waiting.kinds.includes(kind)) waiting.end(undefined, failure);
      }
    }
  }

  private _pause(kind: string): Promise<void> {
    return new Promise((resolve) => {
      const stop = this._options.clock.after(this._options.pollMs, resolve);
      this._loops.set(kind, () => {
        stop();
        resolve();
      });
    });
  }

  private _hold(job: EngineJob): TakenJob {
    const held: Held = { job, lost: new AbortController(), stopTimer: () => undefined };
    this._held.add(held);
    this._extendLater(held);
    return {
      runId: job.runId,
      kind: job.kind,
      isHandOver: job.isHandOver,
      lost: held.lost.signal,
      extend: () => this._extend(held),
      finish: () => this._end(held, () => job.finish()),
      giveBack: () => this._end(held, () => job.giveBack()),
    };
  }

  private _extendLater(held: Held): void {
    held.stopTimer = this._options.clock.after(this._options.extendMs, () => {
      // An engine that does not answer says nothing about the lock.
      const goOn = (): void => {
        if (this._held.has(held)) this._extendLater(held);
      };
      this._extend(held).then(goOn, goOn);
    });
  }

  private async _extend(held: Held): Promise<boolean> {
    if (!this._held.has(held)) return false;
    const isHeld = await this._answered(held.job.extend());
    if (!isHeld) this._lose(held);
    return isHeld && this._held.has(held);
  }

  private async _end(held: Held, act: () => Promise<boolean>): Promise<boolean> {
    if (!this._held.has(held)) return false;
    const isHeld = await this._answered(act());
    if (isHeld) this._release(held);
    else this._lose(held);
    return isHeld;
  }

  private _release(held: Held): void {
    held.stopTimer();
    this._held.delete(held);
  }

  private _lose(held: Held): void {
    if (!this._held.has(held)) return;
    this._release(held);
    held.lost.abort();
  }

  /** Rejects with `queue-failed` if the engine fails or does not answer in time. */
  private _answered<Value>(answer: Promise<Value>): Promise<Value> {
    const { clock, answerMs } = this._options;
    const late = (): QueueError => new QueueError("queue-failed", `The queue did not answer within ${answerMs} ms.`);
    return inTime(answer, { clock, ms: answerMs, late }).catch((error: unknown) => {
      throw asQueueError(error);
    });
  }
}

function asQueueError(error: unknown): QueueError {
  if (isQueueError(error)) return error;
  return new QueueError("queue-failed", `The queue failed: ${describeThrown(error)}`, { cause: error });
}
