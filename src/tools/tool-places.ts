/** How many calls of one agent run at the same time by default. */
export const DEFAULT_TOOL_CONCURRENCY = 8;

interface Waiting {
  readonly isAlone: boolean;
  readonly begin: () => void;
}

/**
 * The slots in which tool calls run: a limited number at the same time, and a `sequential` call alone. Slots are
 * granted in the order of the requests, so that a sequential call is neither overtaken nor starved.
 */
export class ToolPlaces {
  private readonly _limit: number;
  private readonly _waiting: Waiting[] = [];
  private _taken = 0;
  private _isAlone = false;

  constructor(limit: number = DEFAULT_TOOL_CONCURRENCY) {
    this._limit = Math.max(1, limit);
  }

  /** Waits for a slot; call the returned function to release it. `undefined`: the signal fired first. */
  take(isAlone: boolean, signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this._waiting.splice(this._waiting.indexOf(waiting), 1);
        resolve(undefined);
        this._fill();
      };
      const waiting: Waiting = {
        isAlone,
        begin: () => {
          signal.removeEventListener("abort", onAbort);
          resolve(() => this._leave());
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this._waiting.push(waiting);
      this._fill();
    });
  }

  private _leave(): void {
    this._taken -= 1;
    this._isAlone = false;
    this._fill();
  }

  private _fill(): void {
    for (let next = this._waiting[0]; next !== undefined && this._hasRoom(next); next = this._waiting[0]) {
      this._waiting.shift();
      this._taken += 1;
      this._isAlone = next.isAlone;
      next.begin();
    }
  }

  private _hasRoom({ isAlone }: Waiting): boolean {
    return !this._isAlone && (isAlone ? this._taken === 0 : this._taken < this._limit);
  }
}
