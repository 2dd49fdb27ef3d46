import { StartError } from "#domain";

/** Names that reach a prototype. No stream uses them on purpose. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Refuses a config: `where` is the path of the field, `value` its value, `remedy` what to write instead.
 *
 * @throws StartError `invalid-format`, always
 */
export function refuse(where: string, value: unknown, problem: string, remedy: string): never {
  throw new StartError("invalid-format", `${where}: ${show(value)} ${problem}. ${remedy}`);
}

/**
 * Refuses a path that contains a name that reaches a prototype. Reading uses own properties anyway; this fails early.
 */
export function refuseReserved(where: string, source: string, name: string): void {
  if (!RESERVED_NAMES.has(name)) return;
  refuse(where, source, `goes through ${JSON.stringify(name)}`, "That name is never read. Leave it out.");
}

/** Quotes a value for a message: JSON, cut to a readable size. Never throws. */
export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return quote(value);
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}
