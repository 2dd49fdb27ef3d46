/**
 * A value as one line of JSON. U+0085, U+2028 and U+2029 are escaped, because some readers split lines there. Never
 * throws; a value without JSON becomes `null`.
 */
export function encodeJson(value: unknown): string {
  return escapeSeparators(stringify(value));
}

/** Escapes the characters at which some readers split lines, in JSON text or a part of it. */
export function escapeSeparators(json: string): string {
  return json.replace(/[\u0085\u2028\u2029]/g, escapeUnit);
}

/** A tool's arguments or output as text: a string stays as it is, anything else becomes JSON. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : stringify(value);
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return "null";
  }
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
