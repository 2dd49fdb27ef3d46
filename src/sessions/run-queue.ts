/**
 * Whose turn it is: one entry at a time, first come, first served.
 *
 * It knows neither time nor promises: whoever has come to an end, by whatever road, leaves, and the next one starts
 * inside that call. Nobody else can hold the queue up.
 */
export interface RunQueue<Entry> {
  /** The entry whose turn it is. */
  readonly active: Entry | undefined;
  /** How many wait behind it. */
  readonly waiting: number;
  readonly isClosed: boolean;
  /**
   * Takes a place at the end; with nobody before it, the entry starts inside this call. `false`: the queue is closed.
   * An entry that has a place keeps it.
   */
  enter(entry: Entry): boolean;
  /**
   * Gives a place up. The active entry makes room for the next one; one that waits will never start; one without a
   * place changes nothing.
   */
  leave(entry: Entry): void;
  /**
   * Takes no further entries. Those that wait lose their places, never start, and are returned in order; the active one
   * keeps its own until it leaves. Closed again, it returns none.
   */
  close(): readonly Entry[];
}

/**
 * Creates a queue. `start` is told of each entry once, when its turn comes; it may call any method of the queue.
 *
 * @example
 * const queue = createRunQueue<string>((name) => console.log(`${name} starts`))
 * queue.enter("first")  // first starts
 * queue.enter("second")
 * queue.leave("first")  // second starts
 */
export function createRunQueue<Entry extends object | string>(start: (entry: Entry) => void): RunQueue<Entry> {
  // A set keeps the order of arrival, and gives up a place in the middle at once.
  const waiting = new Set<Entry>();
  let active: Entry | undefined;
  let isClosed = false;
  let advancing = false;

  /** A loop and not a recursion: entries that end inside `start` must not pile up on the stack. */
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
