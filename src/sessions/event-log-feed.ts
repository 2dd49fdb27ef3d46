import type { AgentEvent } from "#domain";

/** Events that were committed together, in order, never empty. One array for all readers: what is made of it can be shared. */
export type EventBatch = readonly AgentEvent[];

/** How much of a run that goes on is kept in memory for its readers, in characters; who lags further reads the store. */
const TAIL_WEIGHT = 1_048_576;

/** The committed end of one run's log, and the readers who wait for it to grow. */
export class Feed {
  /** `done` was committed, or nothing more can be: readers who have everything are at the end. */
  isOver = false;
  private readonly _batches: EventBatch[] = [];
  private readonly _weights: number[] = [];
  private _weight = 0;
  private _lastSeq: number;
  private readonly _waiting = new Set<() => void>();

  constructor(lastSeq = -1) {
    this._lastSeq = lastSeq;
  }

  /** Takes what was committed. */
  push(batch: EventBatch): void {
    const weight = weigh(batch);
    this._batches.push(batch);
    this._weights.push(weight);
    this._weight += weight;
    this._lastSeq = (batch.at(-1) as AgentEvent).seq;
    while (this._weight > TAIL_WEIGHT && this._batches.length > 1) {
      this._batches.shift();
      this._weight -= this._weights.shift() as number;
    }
    this._wake();
  }

  end(): void {
    this.isOver = true;
    this._wake();
  }

  /** The next events behind the cursor: `[]` when there are none yet, `undefined` when they are no longer in memory. */
  behind(cursor: number): EventBatch | undefined {
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

  /** Resolves when something is new, or the signal fires. */
  changed(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const finish = (): void => {
        this._waiting.delete(finish);
        signal?.removeEventListener("abort", finish);
        resolve();
      };
      this._waiting.add(finish);
      signal?.addEventListener("abort", finish);
    });
  }

  private _wake(): void {
    for (const finish of [...this._waiting]) finish();
  }
}

/** The first batch that ends behind the cursor. */
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

/** About how much memory a batch holds, in characters. A loop of its own: it runs once per event. */
export function weigh(batch: EventBatch): number {
  let weight = 0;
  for (const event of batch) {
    if (event.type === "text-delta" || event.type === "thinking-delta") weight += 128 + event.text.length;
    else if (event.type === "tool-input-delta") weight += 128 + event.json.length;
    // Items are few; their exact size is worth the walk.
    else weight += JSON.stringify(event).length;
  }
  return weight;
}
