import type { Clock } from "#domain";
import type { Redactor } from "#secrets";
import type { Tape } from "../tape.ts";
import { TapeDifference, type WireDifference } from "./difference.ts";
import { createWireClock, type WireClock } from "./wire-clock.ts";

/** If nothing happens for this long, everything that could proceed by itself has done so. */
const QUIET_MS = 20;
/** A wait may be this much longer than the recorded one. */
const SLACK_MS = 250;

/** Something that is being replayed and may be stuck. */
export interface Played {
  /** What it waits for and cannot get from the tape; `undefined` when it is not stuck. */
  stuck(): { readonly index: number; readonly difference: WireDifference; goOn?: () => void } | undefined;
}

export interface WireContextOptions {
  readonly tape: Tape;
  /** The real clock. */
  readonly clock: Clock;
  /** Masks the secrets of this run: what is sent is compared in the form in which it would be recorded. */
  readonly redactor: Redactor;
  /** Called with a difference. `false`: the replay ends. */
  readonly goesOn: (difference: WireDifference) => boolean;
}

/**
 * The state of one replay of the wire: the position on the tape, the code that is running, and the differences.
 *
 * Waits are cut short, but only by as much as the recorded run waited at the same place, and only while none of the
 * caller's code is running: a caller's tool takes its real time.
 */
export class WireContext {
  readonly tape: Tape;
  readonly clock: WireClock;
  readonly redactor: Redactor;
  readonly drawnIds = new Set<string>();
  readonly recordedIds: ReadonlySet<string>;
  private readonly _options: WireContextOptions;
  private readonly _controller = new AbortController();
  private readonly _played = new Set<Played>();
  private _busy = 0;
  private _isClosed = false;
  private _stopWatch: (() => void) | undefined;
  /** The last replayed entry, and when it was replayed. */
  private _lastIndex = -1;
  private _lastNow: number;

  constructor(options: WireContextOptions) {
    this._options = options;
    this.tape = options.tape;
    this.redactor = options.redactor;
    this.clock = createWireClock(options.clock);
    this._lastNow = this.clock.now();
    const all = [...this.tape.entries, ...(this.tape.last === undefined ? [] : [this.tape.last])];
    this.recordedIds = new Set(all.flatMap(({ ids }) => ids ?? []));
  }

  /** Fires, with a `TapeDifference` as its reason, when the replay cannot continue. */
  get signal(): AbortSignal {
    return this._controller.signal;
  }

  /**
   * Reports a difference.
   * @throws TapeDifference when the replay ends because of it.
   */
  differ(difference: WireDifference): void {
    if (this._isClosed || this._options.goesOn(difference)) return;
    throw this.fail(difference);
  }

  /** Ends the replay. */
  fail(difference: WireDifference): TapeDifference {
    const error = new TapeDifference(difference);
    if (!this._isClosed) this._controller.abort(error);
    return error;
  }

  /** An entry of the tape was delivered or performed. */
  pass(index: number): void {
    this._lastIndex = Math.max(this._lastIndex, index);
    this._lastNow = this.clock.now();
    this.stir();
  }

  /** Something happened that may let other things proceed. */
  stir(): void {
    if (this._isClosed || this.signal.aborted || this._busy > 0) return;
    this._stopWatch?.();
    this._stopWatch = this._options.clock.after(QUIET_MS, () => this._lookAround());
  }

  /** The caller's code is running; the returned function ends this state. Idempotent. */
  occupy(): () => void {
    this._busy += 1;
    this._stopWatch?.();
    let isBusy = true;
    return () => {
      if (!isBusy) return;
      isBusy = false;
      this._busy -= 1;
      this.stir();
    };
  }

  add(played: Played): () => void {
    this._played.add(played);
    return () => this._played.delete(played);
  }

  get isClosed(): boolean {
    return this._isClosed;
  }

  close(): void {
    this._isClosed = true;
    this._stopWatch?.();
    this.clock.close();
  }

  /** Nothing proceeds by itself: cuts a wait short, or reports what is stuck. */
  private _lookAround(): void {
    if (this._isClosed || this.signal.aborted || this._busy > 0) return;
    if (this.clock.skip(this._leftMs())) {
      this.stir();
      return;
    }
    for (const played of this._played) {
      const stuck = played.stuck();
      if (stuck === undefined) continue;
      if (stuck.goOn !== undefined && this._options.goesOn(stuck.difference)) {
        stuck.goOn();
        this.stir();
      } else this.fail(stuck.difference);
      return;
    }
  }

  /** The part of the recorded wait at this place that has not passed yet. */
  private _leftMs(): number {
    const { entries, last } = this.tape;
    const before = entries[this._lastIndex]?.at ?? 0;
    const next =
      entries.find((entry, index) => index > this._lastIndex && isWire(entry.type)) ?? last ?? entries.at(-1);
    return (next?.at ?? before) - before + SLACK_MS - (this.clock.now() - this._lastNow);
  }
}

/** Entries that do not come from or go to a host or a process. */
const NOT_WIRE = ["answer", "progress", "decision", "timer", "abort", "kill", "stdin-end"];

function isWire(type: string): boolean {
  return !NOT_WIRE.includes(type);
}
