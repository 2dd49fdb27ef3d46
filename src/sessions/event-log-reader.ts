import type { Clock } from "#domain";
import { createCursorCut } from "./event-log-cursor.ts";
import type { EventBatch, LiveTail } from "./live-tail.ts";
import type { Store } from "./stores/store.ts";

/** What a reader takes from the store at a time. */
const READ = { limit: 512, maxCharacters: 262_144 } as const;

/** How often a log is looked at that another process may be writing. */
const POLL_MS = 250;

/** What a reader needs of the log it reads. */
export interface ReaderHome {
  readonly store: Store;
  readonly clock: Clock;
  /** The end of a run's log, while this process writes it. */
  feedOf(runId: string): LiveTail | undefined;
  enter(reader: LogReader): void;
  leave(reader: LogReader): void;
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * One reader's way through the log of a run: from memory where it can, from the store where it must. Asked for one
 * batch at a time.
 *
 * A class and no generator: it is asked once for each event a server sends.
 */
export class LogReader implements AsyncIterableIterator<EventBatch, undefined> {
  readonly runId: string;
  private readonly _home: ReaderHome;
  private readonly _signal: AbortSignal | undefined;
  private readonly _cut: (batch: EventBatch) => EventBatch;
  private _cursor: number;
  /** Kept when it is gone from the table: the last events of a run are shared like all others. */
  private _feed: LiveTail | undefined;
  private _state: "new" | "reading" | "over" = "new";
  /** A writer has come since the last look. */
  private _hasNews = false;
  private _resume: (() => void) | undefined;
  readonly wake = (): void => {
    const resume = this._resume;
    this._resume = undefined;
    resume?.();
  };

  constructor(runId: string, after: number, signal: AbortSignal | undefined, home: ReaderHome) {
    this.runId = runId;
    this._cursor = after;
    this._cut = createCursorCut(after);
    this._signal = signal;
    this._home = home;
  }

  /** The run has a writer now, in this process. */
  meetWriter(): void {
    this._hasNews = true;
    this.wake();
  }

  next(): Promise<IteratorResult<EventBatch, undefined>> {
    if (this._state === "new") this._begin();
    // Who follows a run waits at its end nearly always: that way makes one promise, the other one about ten things.
    return this._waitAtEnd() ?? this._search();
  }

  /** The next batch of a run that is being written, when the reader has everything; `undefined` in all other cases. */
  private _waitAtEnd(): Promise<IteratorResult<EventBatch, undefined>> | undefined {
    const feed = this._home.feedOf(this.runId);
    if (feed === undefined || feed.isOver || !this._isReading() || feed.behind(this._cursor)?.length !== 0) {
      return undefined;
    }
    this._feed = feed;
    return new Promise((resolve) => {
      this._resume = () => {
        const batch = this._isReading() ? feed.behind(this._cursor) : undefined;
        resolve((batch && this._show(batch)) ?? this._search());
      };
      feed.whenChanged(this.wake);
    });
  }

  private _isReading(): boolean {
    return this._state === "reading" && this._signal?.aborted !== true;
  }

  /** Goes past a batch; gives what of it the reader has not seen, if there is anything. */
  private _show(batch: EventBatch): IteratorResult<EventBatch, undefined> | undefined {
    const last = batch.at(-1);
    if (last === undefined) return undefined;
    this._cursor = last.seq;
    const shown = this._cut(batch);
    if (last.type === "done") this._leave();
    return shown.length > 0 ? { done: false, value: shown } : undefined;
  }

  private async _search(): Promise<IteratorResult<EventBatch, undefined>> {
    try {
      while (this._isReading()) {
        this._feed = this._home.feedOf(this.runId) ?? this._feed;
        const isWritten = this._feed?.isOver !== true;
        const batch = this._feed?.behind(this._cursor) ?? (await this._readStore());
        if (batch.length > 0) {
          const step = this._show(batch);
          if (step !== undefined) return step;
        } else if (!isWritten) {
          break;
        } else if (this._feed !== undefined) {
          // Nothing can come between the look above and this: the log is the truth, and this only wakes us.
          await this._nextOf(this._feed);
        } else if (await this._isClosed()) {
          break;
        } else {
          // Another process may write that run, or we shall.
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

  /** Also when nobody asks any more: a reader that is gone must not be counted among those who wait. */
  private readonly _leave = (): void => {
    if (this._state === "reading") this._home.leave(this);
    this._feed?.leave(this.wake);
    this._state = "over";
    this._signal?.removeEventListener("abort", this._leave);
    this.wake();
  };

  private _nextOf(feed: LiveTail): Promise<void> {
    return new Promise((resolve) => {
      this._resume = resolve;
      feed.whenChanged(this.wake);
    });
  }

  private _readStore(): Promise<EventBatch> {
    return this._home.store.read(this.runId, { after: this._cursor, ...READ });
  }

  /** The cursor stands at the end of a log that is over. */
  private async _isClosed(): Promise<boolean> {
    const after = Math.max(-1, this._cursor - 1);
    const [last] = (await this._home.store.read(this.runId, { after, limit: 1 })).slice(-1);
    return last?.type === "done" && last.seq <= this._cursor;
  }

  /** Waits a little, or until somebody wakes us. */
  private async _pause(): Promise<void> {
    if (!this._hasNews && this._signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        const takeBack = this._home.clock.after(POLL_MS, this.wake);
        this._resume = () => {
          takeBack();
          resolve();
        };
      });
    }
    this._hasNews = false;
  }
}
