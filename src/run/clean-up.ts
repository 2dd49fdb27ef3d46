import type { Clock } from "#domain";
import { describeThrown } from "#domain";
import { createDeferred, type Deferred } from "#streams";

interface CleanUpParts {
  readonly clock: Clock;
  /** How long one piece of work may take after the end of the run. */
  readonly maxMs: number;
  /** Receives failures, because no event may follow `done`. */
  readonly report: (problem: Error) => void;
}

/** Tracks the work that releases what a run has started. Such work may continue after `done`. */
export class RunCleanUp {
  private readonly _parts: CleanUpParts;
  /**
   * Each piece of work with its time limit after the end of the run. Created on first use, because most runs have none.
   */
  private _work: Map<Promise<unknown>, number> | undefined;
  private readonly _stopClocks: (() => void)[] = [];
  private _idle: Deferred<void> | undefined;
  private _closed: Deferred<void> | undefined;
  private _isEnded = false;

  constructor(parts: CleanUpParts) {
    this._parts = parts;
  }

  get isIdle(): boolean {
    return (this._work?.size ?? 0) === 0;
  }

  /** Resolves when the run has ended and no work is left. Never rejects. */
  get closed(): Promise<void> {
    if (this._closed === undefined) {
      this._closed = createDeferred<void>();
      this._settle();
    }
    return this._closed.promise;
  }

  add(work: Promise<unknown>, maxMs: number = this._parts.maxMs): void {
    this._work ??= new Map();
    this._work.set(work, maxMs);
    if (this._isEnded) this._limit(work, maxMs);
    work.then(
      () => this._remove(work),
      (thrown: unknown) => {
        if (this._remove(work))
          this._report(`Something that a run had started could not be stopped: ${describeThrown(thrown)}`);
      },
    );
  }

  /** Resolves when no work is under way. Never rejects. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    this._idle ??= createDeferred<void>();
    return this._idle.promise;
  }

  /** Call this when `done` was emitted. From then on the time limits of the work apply. */
  end(): void {
    this._isEnded = true;
    for (const [work, maxMs] of this._work ?? []) this._limit(work, maxMs);
    this._settle();
  }

  /** Stops waiting for any work. Reports nothing: the caller reports the failure. */
  giveUp(): void {
    this._work?.clear();
    this._settle();
  }

  /** Stops waiting for any work, and reports why. */
  stopWaiting(why: string): void {
    this.giveUp();
    this._report(why);
  }

  private _limit(work: Promise<unknown>, maxMs: number): void {
    if (maxMs === Number.POSITIVE_INFINITY) return;
    this._stopClocks.push(
      this._parts.clock.after(maxMs, () => {
        if (this._remove(work))
          this._report(`Something that a run had started was still running ${maxMs} ms after its end.`);
      }),
    );
  }

  private _remove(work: Promise<unknown>): boolean {
    const wasThere = this._work?.delete(work) === true;
    this._settle();
    return wasThere;
  }

  private _settle(): void {
    if (!this.isIdle) return;
    for (const stopClock of this._stopClocks.splice(0)) stopClock();
    this._idle?.resolve();
    this._idle = undefined;
    if (this._isEnded) this._closed?.resolve();
  }

  private _report(message: string): void {
    try {
      this._parts.report(new Error(message));
    } catch {
      // An error thrown by the callback must not change the outcome of the run.
    }
  }
}
