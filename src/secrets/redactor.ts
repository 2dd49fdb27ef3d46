import { HIDDEN } from "./cover-value.ts";
import { formsOf } from "./forms.ts";
import { SecretMatcher } from "./matcher.ts";
import { isSecretHeader, isSecretOption } from "./names.ts";
import { findShapes } from "./shapes.ts";
import { secretsOfVariables, partsOfHeader } from "./sources.ts";
import { coverSpans, joinSpans } from "./span.ts";
import { createStreamMask, type StreamMask } from "./stream-mask.ts";
import { findForms } from "./text-mask.ts";

/** Removes secrets from what is stored or passed on: known ones, and everything that looks like one. */
export interface Redactor {
  /** Treats this value as a secret from now on. */
  addSecret(value: string): void;
  /** Adds the value of a variable if its name marks it as a secret. */
  addVariable(name: string, value: string): void;
  text(text: string): string;
  /** The same for a JSON value. */
  json(value: unknown): unknown;
  headers(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
  args(args: readonly string[]): readonly string[];
  /** For bytes that arrive in pieces. */
  stream(): StreamMask;
}

/**
 * Creates a redactor that knows the secrets of these variables, and everything that looks like a secret.
 *
 * Secrets are found by value, in every form in which they may appear, and by shape. They are masked, not removed: the
 * length stays the same, so JSON stays JSON and masking twice changes nothing.
 */
export function createRedactor(env: Readonly<Record<string, string | undefined>> = {}): Redactor {
  const known = new Set<string>();
  let matcher: SecretMatcher | undefined;
  let byteMatcher: SecretMatcher | undefined;

  const addSecret = (value: string): void => {
    if (known.has(value)) return;
    known.add(value);
    matcher = undefined;
    byteMatcher = undefined;
  };
  for (const value of secretsOfVariables(env)) addSecret(value);

  const text = (given: string): string => {
    matcher ??= new SecretMatcher(formsOf(known));
    return coverSpans(given, joinSpans([...findForms(given, matcher), ...findShapes(given)]));
  };

  return {
    addSecret,
    addVariable(name, value) {
      for (const secret of secretsOfVariables({ [name]: value })) addSecret(secret);
    },
    text,
    json: (value) => coverJson(value, text),
    headers(headers) {
      const kept: [string, string][] = [];
      for (const [name, value] of Object.entries(headers)) {
        if (!isSecretHeader(name)) {
          kept.push([name, text(value)]);
          continue;
        }
        for (const part of partsOfHeader(value)) addSecret(part);
        kept.push([name, HIDDEN]);
      }
      return Object.fromEntries(kept);
    },
    args: (args) => args.map((arg, index) => coverArgument(arg, args[index - 1], text)),
    stream: () => createStreamMask(() => (byteMatcher ??= byteMatcherOf(known))),
  };
}

function byteMatcherOf(known: ReadonlySet<string>): SecretMatcher {
  const { plain, encoded } = formsOf(known);
  return new SecretMatcher({ plain: plain.map(asByteText), encoded });
}

/** One character per byte, which is how streams are searched. */
function asByteText(text: string): string {
  return new TextDecoder("latin1").decode(new TextEncoder().encode(text));
}

function coverJson(value: unknown, text: (given: string) => string): unknown {
  const json = JSON.stringify(value);
  if (json === undefined) return undefined;
  const covered = text(json);
  if (covered === json) return JSON.parse(json);
  try {
    return JSON.parse(covered);
  } catch {
    // A secret that looked like part of the syntax: nothing of the value is kept.
    return HIDDEN;
  }
}

function coverArgument(arg: string, before: string | undefined, text: (given: string) => string): string {
  if (before !== undefined && before.startsWith("-") && !before.includes("=") && isSecretOption(before)) {
    if (!arg.startsWith("-")) return HIDDEN;
  }
  const equals = arg.indexOf("=");
  if (arg.startsWith("-") && equals > 0 && isSecretOption(arg.slice(0, equals))) {
    return `${arg.slice(0, equals + 1)}${HIDDEN}`;
  }
  return text(arg);
}
