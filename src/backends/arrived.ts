import type { HttpBody } from "#domain";

/** As much as one full read of a socket brings. */
const TOGETHER_BYTES = 65_536;

/** One for all streams: what is in it has been read before anybody else gets to run. */
const together = new Uint8Array(TOGETHER_BYTES);

/**
 * A piece of a body and everything small behind it that has arrived by now, as one: each decoding costs about as much as
 * the few events of one piece. The result holds until the next call; read it before you wait for anything.
 */
export function joinArrived(first: Uint8Array, body: HttpBody): Uint8Array {
  let next = body.arrived?.(TOGETHER_BYTES - first.length);
  if (next === undefined) return first;
  together.set(first);
  let length = first.length;
  for (; next !== undefined; next = body.arrived?.(TOGETHER_BYTES - length)) {
    together.set(next, length);
    length += next.length;
  }
  return together.subarray(0, length);
}
