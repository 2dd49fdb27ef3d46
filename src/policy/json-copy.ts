/**
 * A copy that shares nothing with the value, as it would arrive over a wire: what JSON cannot say is left out.
 * `undefined` for what is no JSON at all: functions, cycles, big integers, values too deep to walk.
 */
export function tryCopy(value: unknown): unknown {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON text that is the same for the same value, in whatever order its fields were written. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, sortFields) ?? "undefined";
}

/** What a decision is bound to: SHA-256 of the canonical JSON, in hex. */
export function digestOf(value: unknown): string {
  // Taken on use: loading it is a good part of a cold start, and only runs that ask for decisions need it.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

function sortFields(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // No prototype: a field called `__proto__` is a field like any other.
  const sorted = Object.create(null) as Record<string, unknown>;
  for (const name of Object.keys(value).sort()) sorted[name] = (value as Record<string, unknown>)[name];
  return sorted;
}
