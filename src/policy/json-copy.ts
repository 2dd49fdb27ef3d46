/**
 * A deep copy made by way of JSON; whatever JSON cannot represent is left out. `undefined` for a value that is not JSON
 * at all: a function, a cycle, a bigint, or nesting that is too deep.
 */
export function tryCopy(value: unknown): unknown {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON text that does not depend on the order of fields. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, sortFields) ?? "undefined";
}

/** SHA-256 of the canonical JSON, in hex. Decisions are bound to it. */
export function digestOf(value: unknown): string {
  return digestOfText(canonicalJson(value));
}

/** The same for a canonical JSON that is known. */
export function digestOfText(canonical: string): string {
  // Loaded on first use: loading it takes a good part of a cold start, and only runs with permission decisions need it.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(canonical).digest("hex");
}

function sortFields(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // No prototype, so that a field named `__proto__` is an ordinary field.
  const sorted = Object.create(null) as Record<string, unknown>;
  for (const name of Object.keys(value).sort()) sorted[name] = (value as Record<string, unknown>)[name];
  return sorted;
}
