import type { NextTurn } from "#domain";
import { digestOf, digestOfText } from "./json-copy.ts";
import { isLargeJson, writeCanonical } from "./large-json.ts";
import type { Grant } from "./policy.ts";

/** The arguments that a grant is for, and the run of their call. */
export interface GrantCall {
  /** Nobody else may have a reference to it if it is large. */
  readonly input: unknown;
  readonly signal: AbortSignal;
  readonly nextTurn: NextTurn | undefined;
}

/**
 * The right to run one call once, with exactly these arguments. The first `redeem` uses it up, even one with other
 * arguments; after an abort it is void.
 *
 * Large arguments are recognized as the same object, and compared with others only when there are others.
 */
export function createGrant({ input: allowed, signal, nextTurn }: GrantCall): Grant {
  const isLarge = nextTurn !== undefined && isLargeJson(allowed);
  const digest = isLarge ? undefined : digestOf(allowed);
  /** The digests of large arguments that were read in several turns. */
  let known: { readonly input: unknown; readonly given: string; readonly allowed: string } | undefined;
  let isUsed = false;
  const isAllowed = (input: unknown): boolean => {
    if (isLarge && input === allowed) return true;
    if (known !== undefined && known.input === input) return known.given === known.allowed;
    return digestOf(input) === (digest ?? digestOf(allowed));
  };
  return {
    async prepare(input) {
      if (!isLarge || input === allowed || isUsed || !isLargeJson(input)) return;
      try {
        const given = digestOfText(await writeCanonical(input, nextTurn));
        known = { input, given, allowed: digestOfText(await writeCanonical(allowed, nextTurn)) };
      } catch {
        // It is not JSON; `redeem` finds the same.
      }
    },
    redeem(input) {
      if (isUsed || signal.aborted) return false;
      isUsed = true;
      try {
        return isAllowed(input);
      } catch {
        return false;
      }
    },
  };
}
