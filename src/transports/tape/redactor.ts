import { findSecrets, isSecretHeader, isSecretOption, isSecretVariable } from "./secret-shapes.ts";
import { createStreamMask, type StreamMask } from "./stream-mask.ts";

/** What stands where a secret stood: as many of these as the secret had characters, so that nothing else moves. */
export const MASK = "*";

/** What stands for a value that is a secret as a whole. */
export const HIDDEN = "[hidden]";

/** Shorter values are no secrets, and would be found everywhere. */
const SHORTEST_SECRET = 6;
/** A single short word is no secret either, whatever variable it stands in: it may be a word of a protocol. */
const WORD = /^[A-Za-z_-]{1,11}$/;
/** Longer values are looked for in parts, so that what is held back of a stream stays small. */
const LONGEST_PART = 1024;
const PATH_VARIABLE = /(?:_SOCK|_FILE|_PATH|_DIR|CREDENTIALS)$/i;

/** Takes secrets out of everything that is written to a tape. */
export interface Redactor {
  /** From now on this value is a secret, too. */
  addSecret(value: string): void;
  /** The value of a variable: a secret when the variable is one for secrets. */
  addVariable(name: string, value: string): void;
  text(text: string): string;
  /** The same for a value that can be JSON. */
  json(value: unknown): unknown;
  headers(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
  args(args: readonly string[]): readonly string[];
  /** For bytes that arrive in pieces. */
  stream(): StreamMask;
}

/**
 * Creates a redactor that knows the secrets of these variables, and everything that looks like one.
 *
 * Secrets are found by value (as they are, in JSON, in an address, in base64) and by shape. They are covered, not cut
 * out: the length stays, so JSON stays JSON and covering twice changes nothing.
 */
export function createRedactor(env: Readonly<Record<string, string | undefined>> = {}): Redactor {
  const known = new Set<string>();
  let values: readonly string[] = [];
  let byteValues: readonly string[] = [];

  const addSecret = (value: string): void => {
    const before = known.size;
    for (const form of formsOf(value)) known.add(form);
    if (known.size === before) return;
    values = [...known].sort((left, right) => right.length - left.length);
    byteValues = values.map(asByteText);
  };
  for (const value of secretsOf(env)) addSecret(value);

  const text = (given: string): string => cover(given, values);

  return {
    addSecret,
    addVariable(name, value) {
      for (const secret of secretsOf({ [name]: value })) addSecret(secret);
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
        // "Bearer <key>": hosts repeat the key alone.
        for (const part of value.split(/[\s;,]+/)) addSecret(part);
        kept.push([name, HIDDEN]);
      }
      return Object.fromEntries(kept);
    },
    args: (args) => args.map((arg, index) => coverArgument(arg, args[index - 1], text)),
    stream: () => createStreamMask(() => byteValues),
  };
}

/** Every value of the environment that is a secret: by the name of its variable, or as the password of an address. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const isPath = value.startsWith("/") && PATH_VARIABLE.test(name);
    if (isSecretVariable(name) && !isPath) secrets.push(value);
    const password = value.includes("://") && URL.canParse(value) ? new URL(value).password : "";
    if (password !== "") secrets.push(password, safeDecode(password));
  }
  return secrets;
}

/** A value in the forms in which it travels. */
function formsOf(value: string): readonly string[] {
  const forms = new Set<string>();
  for (const line of value.split(/[\r\n]+/)) {
    const part = line.trim();
    if (part.length < SHORTEST_SECRET || WORD.test(part)) continue;
    for (const form of [part, JSON.stringify(part).slice(1, -1), encodeURIComponent(part), base64(part)]) {
      for (let start = 0; start < form.length; start += LONGEST_PART) {
        const piece = form.slice(start, start + LONGEST_PART);
        if (piece.length >= SHORTEST_SECRET) forms.add(piece);
      }
    }
  }
  return [...forms];
}

/** Without the padding: what follows the secret changes it. */
function base64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return btoa(String.fromCharCode(...bytes.subarray(0, bytes.length - (bytes.length % 3))));
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** One character per byte, as streams are searched. */
export function asByteText(text: string): string {
  return new TextDecoder("latin1").decode(new TextEncoder().encode(text));
}

function cover(text: string, values: readonly string[]): string {
  const spans = findSecrets(text, values);
  if (spans.length === 0) return text;
  let covered = "";
  let at = 0;
  for (const { start, end } of spans) {
    covered += text.slice(at, start) + MASK.repeat(end - start);
    at = end;
  }
  return covered + text.slice(at);
}

function coverJson(value: unknown, text: (given: string) => string): unknown {
  const json = JSON.stringify(value);
  if (json === undefined) return undefined;
  const covered = text(json);
  if (covered === json) return JSON.parse(json);
  try {
    return JSON.parse(covered);
  } catch {
    // A secret that looked like part of the notation: nothing of the value is kept.
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
