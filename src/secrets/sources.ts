import { isConnection, isSecretHeader, isSecretOption, isSecretRequestHeader, isSecretVariable } from "./names.ts";

/** Variables that contain the location of a secret rather than the secret. */
const PATH_VARIABLE = /(?:_SOCK|_FILE|_PATH|_DIR|CREDENTIALS|CLIENT_KEY)$/i;
/** Headers that a caller adds to every request, one per line. */
const HEADERS_VARIABLE = /_HEADERS$/i;

/** Every value of the environment that is a secret: by the name of its variable, or as the password in a URL. */
export function secretsOfVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const isPath = /^(?:\/|~|[A-Za-z]:\\)/.test(value) && PATH_VARIABLE.test(name);
    if (isSecretVariable(name) && !isPath) secrets.push(value);
    if (HEADERS_VARIABLE.test(name)) secrets.push(...secretsOfHeaders(readHeaderLines(value)));
    secrets.push(...(isConnection(name) ? secretsOfConnection(value) : secretsOfAddress(value)));
  }
  return secrets;
}

/** The secrets in the headers of a request: the values of secret headers, and their parts. */
export function secretsOfHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    isSecretRequestHeader(name) ? partsOfHeader(value) : secretsOfAddress(value),
  );
}

/** Deeper data is not searched. */
const DEEPEST = 32;

/**
 * The secrets in options that are plain data: by field name, in headers, variables and arguments, and in JSON inside a
 * string. Instances of classes are not searched.
 */
export function secretsOfData(value: unknown): readonly string[] {
  const secrets: string[] = [];
  collect(value, "", { secrets, seen: new Set(), depth: 0 });
  return secrets;
}

interface Collecting {
  readonly secrets: string[];
  /** Data may contain cycles, or the same part in many places. */
  readonly seen: Set<object>;
  readonly depth: number;
}

function collect(value: unknown, name: string, state: Collecting): void {
  const { secrets, seen, depth } = state;
  if (depth > DEEPEST) return;
  const deeper = { ...state, depth: depth + 1 };
  if (typeof value === "string") {
    if (isSecretVariable(name) || isSecretOption(name) || isSecretHeader(name)) secrets.push(...partsOfHeader(value));
    secrets.push(...(isConnection(name) ? secretsOfConnection(value) : secretsOfAddress(value)));
    if (value.trimStart().startsWith("{")) collect(parse(value), name, deeper);
    return;
  }
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  if (Array.isArray(value)) {
    secrets.push(...secretsOfArguments(value));
    for (const one of value) collect(one, name, deeper);
  } else if (isPlain(value)) {
    const fields = Object.entries(value);
    if (/headers$/i.test(name)) secrets.push(...secretsOfHeaders(textsOf(fields)));
    if (/^env$/i.test(name)) secrets.push(...secretsOfVariables(textsOf(fields)));
    for (const [field, one] of fields) collect(one, field, deeper);
  }
}

/** The secrets in the arguments of a program: `--api-key <secret>`, `--token=<secret>`. */
export function secretsOfArguments(args: readonly unknown[]): readonly string[] {
  return args.flatMap((arg, at) => {
    if (typeof arg !== "string") return [];
    const before: unknown = args[at - 1];
    const isValue = typeof before === "string" && /^-[^=]*$/.test(before) && !arg.startsWith("-");
    const [, name = "", value = ""] = /^(-[^=]*)=(.*)$/s.exec(arg) ?? [];
    return [
      ...(isValue ? secretsOfOption(before, arg) : []),
      ...secretsOfOption(name, value),
      ...secretsOfAddress(arg),
    ];
  });
}

function secretsOfOption(name: string, value: string): readonly string[] {
  if (isConnection(name)) return secretsOfConnection(value);
  return isSecretOption(name) ? [value] : [];
}

function textsOf(fields: readonly (readonly [string, unknown])[]): Readonly<Record<string, string>> {
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === "string"));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** "Bearer <key>", "Basic <user and password>", "name=<value>; …": hosts may repeat the secret part alone. */
export function partsOfHeader(value: string): readonly string[] {
  const parts = value.split(/[\s;,]+/);
  const values = parts.flatMap((part) => {
    const equals = part.indexOf("=");
    return equals > 0 ? [part.slice(equals + 1)] : [];
  });
  return [value, ...parts, ...values, ...passwordOf(parts)];
}

/** URL parameters that are keys. */
const SECRET_PARAMETER = /(?:key|token|secret|password|signature|sig|auth|credential)$/i;

/**
 * The secrets in a URL, both as written and decoded: its password, a user name without a password (which is a token
 * then), and parameters that are keys. Also finds them in a URL that cannot be parsed.
 */
export function secretsOfAddress(text: string): readonly string[] {
  if (!text.includes("://")) return [];
  const found: string[] = [];
  // Up to the last @ before the path: a password may contain an unescaped @.
  for (const [, user = "", password] of text.matchAll(/:\/\/([^\s/:@?#]{0,256})(?::([^\s/?#]{0,2048}))?@/g)) {
    if (password !== undefined && password !== "") found.push(password, password.split("@", 1)[0] ?? "");
    if (password === undefined || password === "" || password === "x-oauth-basic") found.push(user);
  }
  for (const [, name = "", value = ""] of text.matchAll(/[?&]([^=&\s#]{1,64})=([^&\s#]{1,2048})/g)) {
    if (SECRET_PARAMETER.test(name)) found.push(value);
  }
  return [...new Set(found.flatMap((one) => (one === "" ? [] : [one, safeDecode(one)])))];
}

/** `Password=…;`, `password='…' dbname=…`. */
const SECRET_PAIR =
  /(?:^|[;\s?&,])(?:[\w ]{0,32}(?:password|passwd|accountkey|accesskey|accesssignature|secret|token)|pwd|pass)\s{0,4}=\s{0,4}(?:"([^"]{1,2048})"|'([^']{1,2048})'|([^;&\s]{1,2048}))/gi;

/** The secrets in a connection string: all of it, and the passwords in it. */
function secretsOfConnection(text: string): readonly string[] {
  const found = [text, ...secretsOfAddress(text)];
  for (const [, quoted, single, plain] of text.matchAll(SECRET_PAIR)) found.push(quoted ?? single ?? plain ?? "");
  // A password may contain a character that ends the host name: then the text cannot be parsed as a URL.
  const [, unescaped = ""] = URL.canParse(text) ? [] : (/:\/\/[^\s/:@?#]{0,256}:(\S{1,2048})@/.exec(text) ?? []);
  // `name:password@tcp(host)/…`, `name/password@host`.
  const [, driver = ""] = text.includes("=") ? [] : (/^[^\s:/@]{1,256}[:/]([^\s@/][^\s@]{0,2047})@/.exec(text) ?? []);
  return [...found, unescaped, driver].filter((one) => one !== "");
}

function passwordOf([scheme, credentials = ""]: readonly string[]): readonly string[] {
  if (scheme?.toLowerCase() !== "basic") return [];
  try {
    const text = atob(credentials);
    return [text, text.slice(text.indexOf(":") + 1)];
  } catch {
    return [];
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function readHeaderLines(text: string): Readonly<Record<string, string>> {
  const headers: [string, string][] = [];
  for (const line of text.split(/[\r\n]+/)) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.push([line.slice(0, colon).trim(), line.slice(colon + 1).trim()]);
  }
  return Object.fromEntries(headers);
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
