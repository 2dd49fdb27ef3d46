import type { Clock } from "#domain";
import { createDeferred, type Deferred } from "#streams";
import { describeEntry, keyOf } from "./entry-key.ts";
import { describePosition } from "./open-tape.ts";
import type { Tape, TapeDelivery, TapeEntry } from "./tape.ts";
import { turn } from "./recorded-answer.ts";

/** A pending wait for a delivery. */
export interface Receiver {
  /** For messages: `the answer to POST https://…`. */
  readonly waitsFor: string;
  /** A delivery that may never come, such as a timer: it does not count as being stuck. */
  readonly optional?: boolean;
  /** How badly a delivery matches, 0 being best; `undefined`: not at all. If left out, every delivery matches. */
  readonly rank?: (entry: TapeDelivery) => number | undefined;
  readonly take: (entry: TapeDelivery) => void;
  readonly fail: (error: Error) => void;
}

export interface ReplayOrderOptions {
  /** 1 replays in real time, 2 twice as fast; `Infinity` does not wait. */
  readonly speed: number;
  /** The real clock: for the speed, and for detecting that a replay is stuck. */
  readonly clock: Clock;
  /** How long the program and the tape may wait for each other. */
  readonly patienceMs: number;
}

/**
 * Replays a tape entry by entry, strictly in order: actions of the program advance it, and recorded deliveries are
 * handed over when their turn has come and the program waits for them. Thus the program sees everything in the recorded
 * order, however many things happen at once.
 */
export class ReplayOrder {
  readonly tape: Tape;
  private readonly _options: ReplayOrderOptions;
  private readonly _receivers = new Map<string, Receiver[]>();
  private readonly _done = new Set<TapeEntry>();
  private readonly _controller = new AbortController();
  private _next = 0;
  private _isPlaying = false;
  private _isClosed = false;
  private _heldBy = 0;
  private _woken: Deferred<boolean> | undefined;
  private _failure: Error | undefined;
  private _lastAt = 0;
  private _lastKey = "";

  constructor(tape: Tape, options: ReplayOrderOptions) {
    this.tape = tape;
    this._options = options;
  }

  /** Fires, with the error as its reason, when the program deviates from the tape or the tape breaks off. */
  get signal(): AbortSignal {
    return this._controller.signal;
  }

  /** The index of the current entry. */
  get next(): number {
    return this._next;
  }

  /** Starts the replay, or checks whether it can continue. */
  wake(): void {
    this._woken?.resolve(false);
    if (this._isPlaying || this._isClosed || this._failure !== undefined) return;
    this._isPlaying = true;
    this._play()
      .catch((error: unknown) => this.fail(error instanceof Error ? error : new Error(String(error))))
      .finally(() => {
        this._isPlaying = false;
      });
  }

  /** The program has performed the action of this entry, at its turn or earlier. */
  perform(entry: TapeEntry): void {
    this._done.add(entry);
    this._skipDone();
    this.wake();
  }

  /** Waits for a delivery with this key. Returns a function that cancels the wait. */
  await(key: string, receiver: Receiver): () => void {
    if (this._failure !== undefined) {
      receiver.fail(this._failure);
      return () => undefined;
    }
    const line = this._receivers.get(key) ?? [];
    line.push(receiver);
    this._receivers.set(key, line);
    // An abort may come at any time, so waiting for one does not mean that the program has begun.
    if (key !== "abort") this.wake();
    return () => {
      const at = line.indexOf(receiver);
      if (at !== -1) line.splice(at, 1);
    };
  }

  /** The program waits for its readers, which may take any time. Returns a function that ends this. */
  hold(): () => void {
    this._heldBy += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this._heldBy -= 1;
      this.wake();
    };
  }

  /** Ends the replay. The signal fires first, so that the program learns the reason before its consequences. */
  fail(error: Error): void {
    if (this._failure !== undefined || this._isClosed) return;
    this._failure = error;
    this._controller.abort(error);
    for (const line of this._receivers.values()) for (const receiver of line.splice(0)) receiver.fail(error);
    this._woken?.resolve(false);
  }

  /** The program has ended: nothing is replayed, waited for or reported missing any more. */
  close(): void {
    this._isClosed = true;
    this._receivers.clear();
    this._woken?.resolve(false);
  }

  /** An error that names its entry. */
  mismatch(index: number, what: string): Error {
    const spot = this.tape.spots[index];
    const entry = this.tape.entries[index];
    if (spot !== undefined && entry !== undefined) {
      return new Error(
        `The run has left its tape at entry ${index + 1} (${entry.type}), ${describePosition(spot)}: ${what}.`,
      );
    }
    const { torn } = this.tape;
    return new Error(
      torn === undefined
        ? `The run has left its tape at its end: ${what}.`
        : `The tape is too short: ${torn}; ${what}.`,
    );
  }

  private async _play(): Promise<void> {
    while (this._failure === undefined && !this._isClosed) {
      const receiver = this._ready();
      if (receiver === undefined) await this._park();
      else await this._deliver();
    }
  }

  /** The receiver of the next entry, if one is waiting. */
  private _ready(): Receiver | undefined {
    this._skipDone();
    const entry = this.tape.entries[this._next];
    const key = entry === undefined ? undefined : keyOf(entry);
    const line = key === undefined ? undefined : this._receivers.get(key);
    return line === undefined ? undefined : bestOf(line, entry as TapeEntry & TapeDelivery);
  }

  private async _deliver(): Promise<void> {
    const entry = this.tape.entries[this._next] as TapeEntry & TapeDelivery;
    const key = keyOf(entry) ?? "";
    // The next piece of the same stream is requested when the last one was processed. Before any other delivery, the
    // program gets a turn of the event loop to do everything that follows from the previous one.
    if (key !== this._lastKey) await turn();
    if (this._options.speed !== Number.POSITIVE_INFINITY) await this._pace(entry.at);
    const receiver = this._ready();
    if (receiver === undefined || this._failure !== undefined || this._isClosed) return;
    const line = this._receivers.get(key) ?? [];
    line.splice(line.indexOf(receiver), 1);
    if (line.length === 0) this._receivers.delete(key);
    this._lastKey = key;
    this._lastAt = Math.max(this._lastAt, entry.at);
    this._next += 1;
    receiver.take(entry);
  }

  private async _pace(at: number): Promise<void> {
    const ms = (at - this._lastAt) / this._options.speed;
    if (ms >= 1) await new Promise<void>((resolve) => this._options.clock.after(ms, resolve));
  }

  /** Waits until something happens. If nothing does although the program waits, it has deviated from the tape. */
  private async _park(): Promise<void> {
    if (this.tape.torn !== undefined && this.tape.entries[this._next] === undefined) {
      await turn();
      if (this._waits() === undefined) {
        await this._sleep();
        return;
      }
      this.fail(this.mismatch(this._next, `the run waits for ${this._waits()}`));
      return;
    }
    const isLate = await this._sleep(this._options.patienceMs);
    if (!isLate || this._heldBy > 0 || this._ready() !== undefined) return;
    const entry = this.tape.entries[this._next];
    const expected = entry === undefined ? "the tape is over" : `the tape has ${describeEntry(entry)} next`;
    this.fail(this.mismatch(this._next, `${expected}, but the run waits for ${this._waits() ?? "nothing"}`));
  }

  /** Waits until woken. Returns `true` if `patienceMs` passed while the replay was not held. */
  private async _sleep(patienceMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const woken = createDeferred<boolean>();
    this._woken = woken;
    const takeBack =
      patienceMs === Number.POSITIVE_INFINITY || this._heldBy > 0
        ? () => undefined
        : this._options.clock.after(patienceMs, () => woken.resolve(true));
    const isLate = await woken.promise;
    takeBack();
    this._woken = undefined;
    return isLate;
  }

  private _skipDone(): void {
    for (let entry = this.tape.entries[this._next]; entry !== undefined; entry = this.tape.entries[this._next]) {
      // Signals and the end of an input have no response, and stopping a process does not always take the same steps.
      const isSilent = entry.type === "kill" || entry.type === "stdin-end";
      if (!this._done.delete(entry) && !isSilent) return;
      this._next += 1;
      this._lastKey = "";
    }
  }

  private _waits(): string | undefined {
    for (const line of this._receivers.values()) {
      for (const receiver of line) if (receiver.optional !== true) return receiver.waitsFor;
    }
    return undefined;
  }
}

function bestOf(line: readonly Receiver[], entry: TapeDelivery): Receiver | undefined {
  let best: Receiver | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const receiver of line) {
    const rank = receiver.rank === undefined ? 0 : receiver.rank(entry);
    if (rank === undefined || rank >= least) continue;
    best = receiver;
    least = rank;
  }
  return best;
}
