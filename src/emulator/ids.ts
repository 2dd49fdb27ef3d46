import { createHash } from "node:crypto";
import type { Random } from "#domain";

/** Creates the ids of one reply. */
export interface Ids {
  next(): string;
}

/**
 * The ids of one exchange.
 *
 * Without `random` they are derived from the request and its number: the same requests in the same order get the same
 * ids, and no id repeats in a conversation, because it grows with each request.
 */
export function createIds(
  seed: { readonly body: Uint8Array; readonly count: number },
  random: Random | undefined,
): Ids {
  if (random !== undefined) return { next: () => random.id().replaceAll("-", "").slice(0, 40) };
  const root = createHash("sha256").update(`${seed.count}:`).update(seed.body).digest("hex");
  let made = 0;
  return {
    next() {
      made += 1;
      return createHash("sha256").update(`${root}:${made}`).digest("hex").slice(0, 24);
    },
  };
}

/** The signature of a thought, with which a vendor distinguishes its own thoughts from foreign or modified ones. */
export function signThought(text: string): string {
  return createHash("sha256").update(`millrace offline thought\n${text}`).digest("base64");
}
