import type { Ticker } from "./alarm.ts";

export interface SilenceOptions {
  readonly clock: Ticker;
  /** The silence allowed before the first sign of life. */
  readonly firstMs: number;
  /** The silence allowed afterwards. */
  readonly betweenMs: number;
  /** The silence after which `onNotice` is called, once per silence; the watch goes on. */
  readonly noticeMs: number;
  readonly onNotice: (silentMs: number) => void;
  /** The silence has lasted too long. Called at most once. */
  readonly onExpire: (silentMs: number, phase: "first" | "between") => void;
}

/** Detects silence. Only the wait for the other side counts: pause it while our own side is slow. */
export interface SilenceWatch {
  /** A sign of life. Only reads the clock. */
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
  /**
   * How long the silence had lasted when the timer was set, the timer's duration, and whether there was a sign of life
   * since.
   */
  private _before = 0;
  private _runsMs = 0;
  private _wasNoted = false;
  private _isNoticed = false;
  private _isOver = false;
  private _takeBack: (() => void) | undefined;

  constructor(options: SilenceOptions) {
    this._options = options;
    this._since = options.clock.now();
    this._arm(0);
  }

  alive(): void {
    this._wasNoted = true;
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
    this._arm(0);
  }

  stop(): void {
    this._isOver = true;
    this.pause();
  }

  // One timer that checks again when it fires, instead of one per sign of life: streams bring thousands per second.
  private _look(): void {
    const { clock, noticeMs, onNotice, onExpire } = this._options;
    this._takeBack = undefined;
    // The system clock can be changed, a timer cannot: the clock only counts as far as the timer agrees.
    const silentMs = this._wasNoted
      ? Math.min(this._runsMs, Math.max(0, clock.now() - this._since))
      : this._before + this._runsMs;
    if (silentMs >= this._limit()) {
      this._isOver = true;
      onExpire(silentMs, this._phase);
      return;
    }
    if (!this._isNoticed && silentMs >= noticeMs) {
      this._isNoticed = true;
      onNotice(silentMs);
    }
    this._arm(silentMs);
  }

  private _arm(silentMs: number): void {
    const { clock, noticeMs } = this._options;
    const next = this._isNoticed ? this._limit() : Math.min(this._limit(), noticeMs);
    this._before = silentMs;
    this._runsMs = Math.max(1, next - silentMs);
    this._wasNoted = false;
    this._takeBack = clock.after(this._runsMs, () => this._look());
  }

  private _limit(): number {
    return this._phase === "first" ? this._options.firstMs : this._options.betweenMs;
  }
}
