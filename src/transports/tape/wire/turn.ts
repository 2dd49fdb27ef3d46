/** A turn of the event loop: what is played comes in turns of its own, as it did from the network or a process. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
