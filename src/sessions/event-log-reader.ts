import { type AgentEvent, type Clock, type DeltaEvent, isDelta } from "#domain";
import type { EventBatch, LiveTail } from "./live-tail.ts";
import type { SharedRead, SharedReads } from "./shared-reads.ts";
import type { Store } from "./stores/store.ts";

/** How often a log is polled that another process may be writing; less often if the store says when it has changed. */
const POLL_MS = 250;
const POLL_TOLD_MS = 1000;

/** The parts of an event log that its reader needs. */
export interface LogSource {
  readonly store: Store;
  readonly reads: SharedReads;
  readonly clock: Clock;
  /** The live tail of a run's log, while this process writes it. */
  tailOf(runId: string): LiveTail | undefined;
  enter(reader: LogReader): void;
  leave(reader: LogReader): void;
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** One reader of the log of a run: from memory if possible, otherwise from the store. Returns one batch at a time. */
export class LogReader implements AsyncIterableIterator<EventBatch, undefined> {
  readonly runId: string;
  private readonly _home: LogSource;
  private readonly _signal: AbortSignal | undefined;
  private readonly _cut: (batch: EventBatch) => EventBatch;
  private _cursor: number;
  /** Kept even after it has left the table, so that the last events of a run are shared like all others. */
  private _tail: LiveTail | undefined;
  /** What the reader was given last, if that was read from the store. */
  private _read: SharedRead | undefined;
  private _state: "new" | "reading" | "over" = "new";
  /** The log stops at a point from which another process will continue it. */
  private _isParked = false;
  /** A writer has appeared since the last check. */
  private _hasNews = false;
  private _resume: (() => void) | undefined;
  readonly wake = (): void => {
    const resume = this._resume;
    this._resume = undefined;
    resume?.();
  };

  constructor(runId: string, after: number, signal: AbortSignal | undefined, home: LogSource) {
    this.runId = runId;
    this._cursor = after;
    this._cut = createCursorCut(after);
    this._signal = signal;
    this._home = home;
  }

  /** The run now has a writer in this process, or another process has changed it. */
  meetWriter(): void {
    this._hasNews = true;
    this.wake();
  }

  next(): Promise<IteratorResult<EventBatch, undefined>> {
    if (this._state === "new") this._begin();
    this._release();
    // A live reader is almost always at the end of the log.
    return this._waitAtEnd() ?? this._search();
  }

  /**
   * The next batch of a run that is being written, if the reader has everything so far; `undefined` in all other cases.
   */
  private _waitAtEnd(): Promise<IteratorResult<EventBatch, undefined>> | undefined {
    const tail = this._home.tailOf(this.runId);
    if (tail === undefined || tail.isOver || !this._isReading() || tail.after(this._cursor)?.length !== 0) {
      return undefined;
    }
    this._tail = tail;
    return new Promise((resolve) => {
      this._resume = () => {
        const batch = this._isReading() ? tail.after(this._cursor) : undefined;
        resolve((batch && this._show(batch)) ?? this._search());
      };
      tail.whenChanged(this.wake);
    });
  }

  private _isReading(): boolean {
    return this._state === "reading" && this._signal?.aborted !== true;
  }

  /** Advances past a batch; returns the part that the reader has not seen, if there is any. */
  private _show(batch: EventBatch): IteratorResult<EventBatch, undefined> | undefined {
    const last = batch.at(-1);
    if (last === undefined) return undefined;
    this._cursor = last.seq;
    this._isParked = last.type === "notice" && (last.kind === "parked" || last.kind === "suspended");
    const shown = this._cut(batch);
    // What was read stays shared until the reader asks again, because others may be about to read it.
    if (last.type === "done") this._stop();
    return shown.length > 0 ? { done: false, value: shown } : undefined;
  }

  private async _search(): Promise<IteratorResult<EventBatch, undefined>> {
    try {
      while (this._isReading()) {
        this._tail = this._home.tailOf(this.runId) ?? this._tail;
        const isWritten = this._tail?.isOver !== true;
        const batch = this._tail?.after(this._cursor) ?? (await this._readStore());
        if (batch.length > 0) {
          const step = this._show(batch);
          if (step !== undefined) return step;
        } else if (!isWritten && !this._isParked && this._tail?.goesOn !== true) {
          break;
        } else if (!isWritten) {
          // The run may be continued here or elsewhere; its new writer wakes this reader.
          this._tail = undefined;
          await this._pause();
        } else if (this._tail !== undefined) {
          // Nothing can be missed between the check above and this: the log decides, and this only wakes the reader.
          await this._nextOf(this._tail);
        } else if (await this._isClosed()) {
          break;
        } else {
          // Another process may write that run, or this one later.
          await this._pause();
        }
      }
    } catch (error) {
      this._leave();
      throw error;
    }
    this._leave();
    return END;
  }

  async return(): Promise<IteratorResult<EventBatch, undefined>> {
    this._leave();
    return END;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private _begin(): void {
    this._state = "reading";
    this._signal?.addEventListener("abort", this._leave);
    this._home.enter(this);
  }

  /** Also called when no read is pending: a reader that is gone must not be counted among the waiting ones. */
  private readonly _leave = (): void => {
    this._release();
    this._stop();
  };

  private _stop(): void {
    if (this._state === "reading") this._home.leave(this);
    this._tail?.leave(this.wake);
    this._state = "over";
    this._signal?.removeEventListener("abort", this._leave);
    this.wake();
  }

  private _release(): void {
    this._read?.release();
    this._read = undefined;
  }

  private _nextOf(tail: LiveTail): Promise<void> {
    return new Promise((resolve) => {
      this._resume = resolve;
      tail.whenChanged(this.wake);
    });
  }

  private async _readStore(): Promise<EventBatch> {
    for (;;) {
      this._release();
      this._read = this._home.reads.take(this.runId, this._cursor);
      const { isNew, events } = this._read;
      const batch = await events;
      // A read that began earlier may have missed what is in the log now.
      if (batch.length > 0 || isNew || !this._isReading()) return batch;
    }
  }

  /** Whether the cursor is at the end of a finished log. */
  private async _isClosed(): Promise<boolean> {
    const after = Math.max(-1, this._cursor - 1);
    const [last] = (await this._home.store.read(this.runId, { after, limit: 1 })).slice(-1);
    return last?.type === "done" && last.seq <= this._cursor;
  }

  /** Waits for a short time, or until woken. */
  private async _pause(): Promise<void> {
    if (!this._hasNews && this._signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        const pollMs = this._home.store.watch === undefined ? POLL_MS : POLL_TOLD_MS;
        const takeBack = this._home.clock.after(pollMs, this.wake);
        this._resume = () => {
          takeBack();
          resolve();
        };
      });
    }
    this._hasNews = false;
  }
}

/**
 * Leaves out what a reader at a cursor must not see: when the cursor is inside the span of a merged delta, part of its
 * text was already shown. Such a reader receives no more deltas of that block, only its finished message.
 *
 * Returns the same array if nothing is left out.
 */
function createCursorCut(after: number): (batch: EventBatch) => EventBatch {
  let cut: DeltaEvent | undefined;
  let begun = false;

  return (batch) => {
    const first = batch[0];
    if (!begun && first !== undefined) {
      begun = true;
      if (first.firstSeq !== undefined && first.firstSeq <= after && isDelta(first)) cut = first;
    }
    if (cut === undefined) return batch;
    const { messageId, index } = cut;
    const kept = batch.filter((event) => !isOfBlock(event, messageId, index));
    // The block is finished: later deltas are complete again.
    if (batch.some((event) => ends(event, messageId))) cut = undefined;
    return kept;
  };
}

function isOfBlock(event: AgentEvent, messageId: string, index: number): boolean {
  return isDelta(event) && event.messageId === messageId && event.index === index;
}

function ends(event: AgentEvent, messageId: string): boolean {
  return event.type === "message" && event.id === messageId;
}
