import { isSecretHeader, isSecretOption, isSecretRequestHeader, isSecretVariable } from "./names.ts";

/** Variables that say where a secret is, and not what it is. */
const PATH_VARIABLE = /(?:_SOCK|_FILE|_PATH|_DIR|CREDENTIALS|CLIENT_KEY)$/i;
/** Headers that a caller adds to every request, one a line. */
const HEADERS_VARIABLE = /_HEADERS$/i;

/** Every value of the environment that is a secret: by the name of its variable, or as the password of an address. */
export function secretsOfVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const isPath = /^(?:\/|~|[A-Za-z]:\\)/.test(value) && PATH_VARIABLE.test(name);
    if (isSecretVariable(name) && !isPath) secrets.push(value);
    if (HEADERS_VARIABLE.test(name)) secrets.push(...secretsOfHeaders(readHeaderLines(value)));
    secrets.push(...secretsOfAddress(value));
  }
  return secrets;
}

/** The secrets among the headers of a request: the values of secret ones, and their parts. */
export function secretsOfHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    isSecretRequestHeader(name) ? partsOfHeader(value) : secretsOfAddress(value),
  );
}

/** Deeper data is not looked at. */
const DEEPEST = 32;

/** The secrets in options that are plain data, by the names of their fields, and in JSON that stands in a text. */
export function secretsOfData(value: unknown, name = "", depth = 0): readonly string[] {
  if (typeof value === "string") {
    const isSecret = isSecretVariable(name) || isSecretOption(name) || isSecretHeader(name);
    const inner = value.trimStart().startsWith("{") ? secretsOfData(parse(value), name, depth + 1) : [];
    return [...(isSecret ? partsOfHeader(value) : []), ...secretsOfAddress(value), ...inner];
  }
  if (typeof value !== "object" || value === null || depth > DEEPEST) return [];
  return Object.entries(value).flatMap(([field, one]) => secretsOfData(one, field, depth + 1));
}

/** "Bearer <key>", "Basic <user and password>", "name=<value>; …": hosts repeat the secret alone. */
export function partsOfHeader(value: string): readonly string[] {
  const parts = value.split(/[\s;,]+/);
  const values = parts.flatMap((part) => {
    const equals = part.indexOf("=");
    return equals > 0 ? [part.slice(equals + 1)] : [];
  });
  return [value, ...parts, ...values, ...passwordOf(parts)];
}

/** The password in an address, as it is written there and as it is meant. */
export function secretsOfAddress(text: string): readonly string[] {
  if (!text.includes("://") || !URL.canParse(text)) return [];
  const { password } = new URL(text);
  return password === "" ? [] : [password, safeDecode(password)];
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
