/** The parts of a clock that alarms and watches need. */
export interface Ticker {
  now(): number;
  after(ms: number, fire: () => void): () => void;
}

/**
 * A callback that is due unless it is postponed, as streams do with every piece they deliver. Postponing it only reads
 * the clock: a single timer runs, and checks again when it fires.
 */
export class Alarm {
  private readonly _clock: Ticker;
  private _fire: (() => void) | undefined;
  private _ms = 0;
  private _dueAt = 0;
  private _timerAt = Number.POSITIVE_INFINITY;
  private _takeBack: (() => void) | undefined;

  constructor(clock: Ticker) {
    this._clock = clock;
  }

  /** Calls `fire` once after this time. Replaces what was set before. */
  set(ms: number, fire: () => void): void {
    this._fire = fire;
    this._ms = ms;
    this._dueAt = this._clock.now() + ms;
    if (this._dueAt < this._timerAt) this._start(ms);
  }

  /** Cancels the callback and the timer. */
  stop(): void {
    this._fire = undefined;
    this._takeBack?.();
    this._takeBack = undefined;
    this._timerAt = Number.POSITIVE_INFINITY;
  }

  private _start(ms: number): void {
    this._takeBack?.();
    this._timerAt = this._dueAt;
    this._takeBack = this._clock.after(ms, () => this._look());
  }

  private _look(): void {
    this._takeBack = undefined;
    this._timerAt = Number.POSITIVE_INFINITY;
    const now = this._clock.now();
    // Never further away than it was set: the system clock may have been set back meanwhile.
    this._dueAt = Math.min(this._dueAt, now + this._ms);
    const left = this._dueAt - now;
    if (left > 0) return this._start(left);
    const fire = this._fire;
    this._fire = undefined;
    fire?.();
  }
}
