import { createHash } from "node:crypto";
import type { Random } from "#domain";

/** Makes the ids of one reply. */
export interface Ids {
  next(): string;
}

/**
 * Ids of one exchange.
 *
 * Without chance they come from the request and its number, so the same requests in the same order get the same ids,
 * and a conversation, which grows with each request, never meets one of its own ids again.
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

/** The mark a vendor sets under a thought, so that it can tell its own thoughts from foreign or changed ones. */
export function signThought(text: string): string {
  return createHash("sha256").update(`millrace offline thought\n${text}`).digest("base64");
}
