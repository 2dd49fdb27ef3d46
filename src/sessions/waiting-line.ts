/**
 * A queue in which one entry is active at a time, first come, first served.
 *
 * It uses neither timers nor promises: an entry that has ended, for whatever reason, leaves, and the next one starts
 * during that call. No other entry can block the queue.
 */
export interface WaitingLine<Entry> {
  /** The active entry. */
  readonly active: Entry | undefined;
  /** How many entries wait after it. */
  readonly waiting: number;
  readonly isClosed: boolean;
  /**
   * Adds an entry at the end; if the queue is empty, the entry starts during this call. `false`: the queue is closed.
   * An entry that is already queued keeps its place.
   */
  enter(entry: Entry): boolean;
  /**
   * Removes an entry. If it is active, the next one starts; if it waits, it will never start; if it is not queued,
   * nothing happens.
   */
  leave(entry: Entry): void;
  /**
   * Accepts no further entries. Waiting entries are removed, never start, and are returned in order; the active one
   * stays until it leaves. A second call returns none.
   */
  close(): readonly Entry[];
}

/**
 * Creates a queue. `start` is called once for each entry, at its turn; it may call any method of the queue.
 *
 * @example
 * const queue = createWaitingLine<string>((name) => console.log(`${name} starts`))
 * queue.enter("first")  // first starts
 * queue.enter("second")
 * queue.leave("first")  // second starts
 */
export function createWaitingLine<Entry extends object | string>(start: (entry: Entry) => void): WaitingLine<Entry> {
  // A set keeps the order of arrival, and removes an entry in the middle at no cost.
  const waiting = new Set<Entry>();
  let active: Entry | undefined;
  let isClosed = false;
  let advancing = false;

  /** A loop rather than recursion: entries that end during `start` must not pile up on the stack. */
  const advance = (): void => {
    if (advancing) return;
    advancing = true;
    try {
      while (active === undefined && waiting.size > 0) {
        const [next] = waiting;
        if (next === undefined) return;
        waiting.delete(next);
        active = next;
        start(next);
      }
    } finally {
      advancing = false;
    }
  };

  return {
    get active() {
      return active;
    },
    get waiting() {
      return waiting.size;
    },
    get isClosed() {
      return isClosed;
    },
    enter(entry) {
      if (isClosed) return false;
      if (entry !== active) waiting.add(entry);
      advance();
      return true;
    },
    leave(entry) {
      waiting.delete(entry);
      if (entry !== active) return;
      active = undefined;
      advance();
    },
    close() {
      isClosed = true;
      const dropped = [...waiting];
      waiting.clear();
      return dropped;
    },
  };
}
