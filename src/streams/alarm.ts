/** What alarms and watches need of a clock. */
export interface Ticker {
  now(): number;
  after(ms: number, fire: () => void): () => void;
}

/**
 * Something that is due unless it is put off, as streams put it off with every piece they give. Setting it costs a
 * look at the clock: one timer runs, and looks again when it fires.
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

  /** Calls `fire` once after so long. What was set before is forgotten. */
  set(ms: number, fire: () => void): void {
    this._fire = fire;
    this._ms = ms;
    this._dueAt = this._clock.now() + ms;
    if (this._dueAt < this._timerAt) this._start(ms);
  }

  /** Nothing is due any more, and no timer runs. */
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
    // Never further away than it was set for: the clock of the machine may have been set back meanwhile.
    this._dueAt = Math.min(this._dueAt, now + this._ms);
    const left = this._dueAt - now;
    if (left > 0) return this._start(left);
    const fire = this._fire;
    this._fire = undefined;
    fire?.();
  }
}
