import type { Ticker } from "./alarm.ts";

export interface SilenceOptions {
  readonly clock: Ticker;
  /** Silence that is allowed before the first sign of life. */
  readonly firstMs: number;
  /** Silence that is allowed afterwards. */
  readonly betweenMs: number;
  /** Silence after which somebody is told, once per silence; the watch goes on. */
  readonly noticeMs: number;
  readonly onNotice: (silentMs: number) => void;
  /** The silence has lasted too long. Called at most once. */
  readonly onExpire: (silentMs: number, phase: "first" | "between") => void;
}

/** Notices silence. Only the wait for the other side counts: it is paused while we are the slow ones. */
export interface SilenceWatch {
  /** A sign of life. Costs one look at the clock. */
  alive(): void;
  pause(): void;
  resume(): void;
  /** Ends the watch. Idempotent. */
  stop(): void;
}

/** Starts watching at once. */
export function watchSilence(options: SilenceOptions): SilenceWatch {
  return new Watch(options);
}

class Watch implements SilenceWatch {
  private readonly _options: SilenceOptions;
  private _phase: "first" | "between" = "first";
  private _since: number;
  private _isNoticed = false;
  private _isOver = false;
  private _takeBack: (() => void) | undefined;

  constructor(options: SilenceOptions) {
    this._options = options;
    this._since = options.clock.now();
    this._arm();
  }

  alive(): void {
    this._phase = "between";
    this._isNoticed = false;
    this._since = this._options.clock.now();
  }

  pause(): void {
    this._takeBack?.();
    this._takeBack = undefined;
  }

  resume(): void {
    if (this._isOver || this._takeBack !== undefined) return;
    this._since = this._options.clock.now();
    this._isNoticed = false;
    this._arm();
  }

  stop(): void {
    this._isOver = true;
    this.pause();
  }

  // One timer that looks again when it fires, instead of one per sign of life: streams bring thousands a second.
  private _look(): void {
    const { clock, noticeMs, onNotice, onExpire } = this._options;
    this._takeBack = undefined;
    const silentMs = clock.now() - this._since;
    if (silentMs >= this._limit()) {
      this._isOver = true;
      onExpire(silentMs, this._phase);
      return;
    }
    if (!this._isNoticed && silentMs >= noticeMs) {
      this._isNoticed = true;
      onNotice(silentMs);
    }
    this._arm();
  }

  private _arm(): void {
    const { clock, noticeMs } = this._options;
    const next = this._isNoticed ? this._limit() : Math.min(this._limit(), noticeMs);
    this._takeBack = clock.after(Math.max(1, next - (clock.now() - this._since)), () => this._look());
  }

  private _limit(): number {
    return this._phase === "first" ? this._options.firstMs : this._options.betweenMs;
  }
}
