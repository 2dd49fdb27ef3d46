/**
 * Owns one resource and carries bytes both ways; knows no vendor. Used once: open, exchange, close.
 *
 * An implementation keeps the promises marked (T); the rest is made sure of by `guardTransport`, which every
 * implementation passes through before anybody else sees it.
 */
export interface Transport {
  /**
   * Gets the resource. Resolves when bytes can flow; (T) rejects when they cannot, leaving nothing behind.
   * Every call after the first gives the same promise. Rejects after `close`.
   */
  open(): Promise<void>;
  /**
   * The bytes that arrive, in order, each once, for one reader. (T) Ends when the other side has no more to say,
   * throws when the connection breaks; pulling slowly slows the other side down. Ends at once after `close`,
   * also for a reader that is waiting. Leaving the loop does not close the transport.
   */
  read(): AsyncIterable<Uint8Array>;
  /**
   * (T) Resolves when the bytes were taken, in the order of the calls; rejects when the other side no longer takes
   * them, and never waits for ever on a side that is gone. The bytes may be reused afterwards. Rejects after `close`.
   */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Gives the resource back. (T) Resolves when it is gone, within bounded time; may come at any moment, also while
   * `open` or `write` is under way (these then reject). Every call after the first gives the same promise.
   */
  close(): Promise<void>;
}
