import { formsOf } from "./forms.ts";
import { coverValue } from "./cover-value.ts";
import { LineMask } from "./line-mask.ts";
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
  /** For lines of JSON that are passed on one by one. */
  lines(): LineMask;
}

const LONG_TEXT = 65_536;

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
  /** The last long text without a secret: the same one comes several times, in a message, a result and at the end. */
  let clean = "";
  const text = (given: string): string => {
    if (given.length < LONG_TEXT && !matcher.mayBeIn(given)) return given;
    if (given.length >= LONG_TEXT && given === clean) return given;
    const spans = findForms(given, matcher);
    if (given.length >= LONG_TEXT && spans.length === 0) clean = given;
    return coverSpans(given, joinSpans(spans));
  };
  return {
    text,
    value: (given) => coverValue(given, text),
    stream: () => new TextMask(matcher),
    lines: () => new LineMask(matcher),
  };
}
