import type { EventBatch } from "./live-tail.ts";
import type { Store } from "./stores/store.ts";

/** How much a reader takes from the store at a time. */
const READ = { limit: 512, maxCharacters: 262_144 } as const;

/** What one read of the store found, for all readers that are at its cursor. */
export interface SharedRead {
  readonly events: Promise<EventBatch>;
  /** Whether it was started for this reader, and not before for another one. */
  readonly isNew: boolean;
  /** The reader needs it no more. */
  release(): void;
}

interface Read {
  readonly events: Promise<EventBatch>;
  readers: number;
}

/**
 * The reads of stored logs. Readers of the same log at the same cursor share one read, and all of them receive the same
 * array: it is in memory once, and so is what is derived from it. It is kept until the last of them has released it.
 */
export class SharedReads {
  private readonly _store: Store;
  private readonly _runs = new Map<string, Map<number, Read>>();

  constructor(store: Store) {
    this._store = store;
  }

  take(runId: string, after: number): SharedRead {
    const known = this._runs.get(runId)?.get(after);
    const read = known ?? this._begin(runId, after);
    read.readers += 1;
    let isHeld = true;
    return {
      events: read.events,
      isNew: known === undefined,
      release: () => {
        if (isHeld) read.readers -= 1;
        isHeld = false;
        if (read.readers === 0) this._forget(runId, after, read);
      },
    };
  }

  private _begin(runId: string, after: number): Read {
    const read: Read = { events: this._store.read(runId, { after, ...READ }), readers: 0 };
    const reads = this._runs.get(runId) ?? new Map<number, Read>();
    this._runs.set(runId, reads.set(after, read));
    const forget = (): void => this._forget(runId, after, read);
    // The log may have grown by the time the next reader asks.
    read.events.then((events) => void (events.length === 0 && forget()), forget);
    return read;
  }

  private _forget(runId: string, after: number, read: Read): void {
    const reads = this._runs.get(runId);
    if (reads?.get(after) !== read) return;
    reads.delete(after);
    if (reads.size === 0) this._runs.delete(runId);
  }
}
