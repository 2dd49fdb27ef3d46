import { findClean, isLargeValue } from "./clean-values.ts";
import { coverValue } from "./cover-value.ts";
import { formsOf } from "./forms.ts";
import { LineMask } from "./line-mask.ts";
import { LONG_TEXT, LongTexts } from "./long-texts.ts";
import { KEEP_FIRST, SecretMatcher } from "./matcher.ts";
import { coverSpans, joinSpans } from "./span.ts";
import { findForms, TextMask } from "./text-mask.ts";

/**
 * Masks the secrets of a run in everything that is shown of it. Only these values are searched for, in every form in
 * which they may appear; text that merely looks like a secret stays. A long secret keeps its first characters, at most
 * three.
 */
export interface SecretMask {
  text(text: string): string;
  /** The same for a value of any depth. A value without a secret is returned unchanged (the same object). */
  value<Value>(value: Value): Value;
  /**
   * Searches a large value, or one with a long text, in several turns of the event loop, so that `value` need not search
   * it again at once. Returns `undefined` for a small one. The value must not change afterwards.
   */
  prepare(value: unknown, nextTurn: () => Promise<void>): Promise<void> | undefined;
  /** For a text that arrives in pieces. */
  stream(): TextMask;
  /** For lines of JSON that are passed on one by one. */
  lines(): LineMask;
}

/**
 * Creates the mask of these secrets; `undefined` if none of them counts as a secret, so that this case costs nothing.
 *
 * @example
 * createSecretMask(["sk-canary-0123456789"])?.text("key: sk-canary-0123456789") // "key: sk******************"
 */
export function createSecretMask(secrets: Iterable<string>): SecretMask | undefined {
  const matcher = new SecretMatcher(formsOf(secrets), KEEP_FIRST);
  if (matcher.isEmpty) return undefined;
  const long = new LongTexts(matcher);
  const text = (given: string): string => {
    if (given.length >= LONG_TEXT) return long.cover(given);
    if (!matcher.mayBeIn(given)) return given;
    return coverSpans(given, joinSpans(findForms(given, matcher)));
  };
  /** Large values without a secret. */
  const clean = new WeakSet<object>();
  const cover = Object.assign((given: string) => text(given), { clean });
  return {
    text,
    value: (given) => coverValue(given, cover),
    prepare: (given, nextTurn) =>
      isLargeValue(given)
        ? findClean(given as object, cover, (found) => long.search(found, nextTurn), nextTurn)
        : undefined,
    stream: () => new TextMask(matcher),
    lines: () => new LineMask(matcher),
  };
}
