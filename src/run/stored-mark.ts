import type { ErrorDetail } from "#domain";

/**
 * How far the events of a run are stored. The log of the run advances it; the run waits for it before something takes
 * effect outside, so that no effect is missing in the log after a crash.
 */
export class StoredMark {
  private _seq = -1;
  private _isEnded = false;
  private _failure: ErrorDetail | undefined;
  private _waiting: { readonly seq: number; readonly settle: (isStored: boolean) => void }[] = [];

  /** Everything up to and including this number is stored. */
  advance(seq: number): void {
    this._seq = Math.max(this._seq, seq);
    this._settle();
  }

  /** Why the run cannot be stored: it then ends with this error. */
  get failure(): ErrorDetail | undefined {
    return this._failure;
  }

  /** The store has failed. */
  fail(failure: ErrorDetail): void {
    this._failure ??= failure;
    this.end();
  }

  /** Nothing more will be stored. */
  end(): void {
    this._isEnded = true;
    this._settle();
  }

  /** Resolves to `true` when the event with this number is stored, and to `false` if that will not happen. */
  reached(seq: number): Promise<boolean> {
    if (this._seq >= seq) return Promise.resolve(true);
    if (this._isEnded) return Promise.resolve(false);
    return new Promise((settle) => this._waiting.push({ seq, settle }));
  }

  private _settle(): void {
    const waiting = this._waiting;
    this._waiting = [];
    for (const one of waiting) {
      if (this._seq >= one.seq) one.settle(true);
      else if (this._isEnded) one.settle(false);
      else this._waiting.push(one);
    }
  }
}
