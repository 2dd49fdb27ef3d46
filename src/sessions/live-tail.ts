import type { AgentEvent } from "#domain";
import { measureJson } from "#wire";

/**
 * Events that were committed together, in order, never empty. One array for all readers, so that anything derived from
 * it can be shared.
 */
export type EventBatch = readonly AgentEvent[];

/** The weight of an event in addition to its text: its object, its batch, and its frame as bytes. */
const EVENT_WEIGHT = 512;

/** Measuring an event stops here: one of this weight is not kept for readers anyway. */
const MOST_WEIGHT = 1_048_576;

/** Called for every batch, because both values change during a run. */
export interface LiveTailLimits {
  /** How much may be kept for readers that lag. */
  maxWeight(): number;
  /** The number of readers, including the waiting ones. */
  readers(): number;
}

/** The committed end of one run's log, and the readers that wait for it to grow. */
export class LiveTail {
  /** `done` was committed, or nothing more can be: readers that have everything are at the end. */
  isOver = false;
  /** Another node may go on with the run: what is missing comes from the store. */
  goesOn = false;
  private readonly _batches: EventBatch[] = [];
  private readonly _weights: number[] = [];
  private _weight = 0;
  private _lastSeq = -1;
  private readonly _limits: LiveTailLimits;
  private _waiting: (() => void)[] = [];

  constructor(limits: LiveTailLimits) {
    this._limits = limits;
  }

  /** Adds a committed batch. */
  push(batch: EventBatch): void {
    if (this._waiting.length >= this._limits.readers()) this._forgetAll();
    const weight = weigh(batch);
    this._batches.push(batch);
    this._weights.push(weight);
    this._weight += weight;
    this._lastSeq = (batch.at(-1) as AgentEvent).seq;
    const maxWeight = this._limits.maxWeight();
    while (this._weight > maxWeight && this._batches.length > 1) {
      this._batches.shift();
      this._weight -= this._weights.shift() as number;
    }
    this._wake();
  }

  end(goesOn = false): void {
    this.goesOn = goesOn;
    this.isOver = true;
    this._wake();
  }

  /** The next events after the cursor: `[]` when there are none yet, `undefined` when they are no longer in memory. */
  after(cursor: number): EventBatch | undefined {
    if (cursor >= this._lastSeq) return [];
    const index = findBatch(this._batches, cursor);
    const batch = this._batches[index];
    if (batch === undefined) return undefined;
    const first = batch[0] as AgentEvent;
    const begins = first.firstSeq ?? first.seq;
    if (begins === cursor + 1) return batch;
    if (begins > cursor + 1) return undefined;
    return batch.filter((event) => event.seq > cursor);
  }

  /** Calls `wake` once when there is something new. Only for readers that have everything. */
  whenChanged(wake: () => void): void {
    this._waiting.push(wake);
  }

  /** Cancels a wait. */
  leave(wake: () => void): void {
    this._waiting = this._waiting.filter((other) => other !== wake);
  }

  /** All readers have everything, and later ones will find it in the store. */
  private _forgetAll(): void {
    this._batches.length = 0;
    this._weights.length = 0;
    this._weight = 0;
  }

  private _wake(): void {
    // A woken reader may wait again at once: for the next change, not for this one.
    const woken = this._waiting;
    this._waiting = [];
    for (const wake of woken) wake();
  }
}

/** The index of the first batch that ends after the cursor. */
function findBatch(batches: readonly EventBatch[], cursor: number): number {
  let low = 0;
  let high = batches.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (((batches[middle] as EventBatch).at(-1) as AgentEvent).seq > cursor) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The approximate memory of a batch, in characters. */
export function weigh(batch: EventBatch): number {
  let weight = 0;
  for (const event of batch) {
    if (event.type === "text-delta" || event.type === "thinking-delta") weight += EVENT_WEIGHT + event.text.length;
    else if (event.type === "tool-input-delta") weight += EVENT_WEIGHT + event.json.length;
    // Measured without encoding it: a message may have many megabytes.
    else weight += EVENT_WEIGHT + measureJson(event, MOST_WEIGHT);
  }
  return weight;
}
