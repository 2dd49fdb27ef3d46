/** Any value a caller gave, as an error message shows it: short, and never a failure of its own. */
export function describeValue(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return "a symbol";
  try {
    const text = JSON.stringify(value) ?? "undefined";
    return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
  } catch {
    return Array.isArray(value) ? "a list" : "an object";
  }
}
