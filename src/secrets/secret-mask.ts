import { formsOf } from "./forms.ts";
import { coverValue } from "./cover-value.ts";
import { KEEP_FIRST, SecretMatcher } from "./matcher.ts";
import { coverSpans, joinSpans } from "./span.ts";
import { findForms, TextMask } from "./text-mask.ts";

/**
 * Covers the secrets of a run in everything that is shown of it. Only these values are looked for, in every form they
 * travel in; what merely looks like a secret stays. A long one keeps its first characters, at most three.
 */
export interface SecretMask {
  text(text: string): string;
  /** The same for a value of any depth. Without a secret in it, it is the very same value. */
  value<Value>(value: Value): Value;
  /** For a text that arrives in pieces. */
  stream(): TextMask;
}

/**
 * Creates the mask of these secrets; `undefined` when there is none among them, so that it costs nothing to have none.
 *
 * @example
 * createSecretMask(["sk-canary-0123456789"])?.text("key: sk-canary-0123456789") // "key: sk******************"
 */
export function createSecretMask(secrets: Iterable<string>): SecretMask | undefined {
  const forms = new Set<string>();
  for (const secret of secrets) for (const form of formsOf(secret)) forms.add(form);
  if (forms.size === 0) return undefined;
  const matcher = new SecretMatcher(forms, KEEP_FIRST);
  const text = (given: string): string => coverSpans(given, joinSpans(findForms(given, matcher)));
  return {
    text,
    value: (given) => coverValue(given, text),
    stream: () => new TextMask(matcher),
  };
}
