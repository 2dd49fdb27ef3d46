import { describeValue, StartError } from "#domain";

/** A wrong option, before anything starts. The message names the field, the value and the remedy. */
export function refuse(message: string): StartError {
  return new StartError("invalid-option", message);
}

export function checkObject(field: string, value: unknown): asserts value is Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw refuse(`${field} is ${describeValue(value)}. Give an object.`);
}

export function checkList(field: string, value: unknown, of: string): asserts value is readonly unknown[] {
  if (Array.isArray(value)) return;
  throw refuse(`${field} is ${describeValue(value)}, not a list. Give a list of ${of}.`);
}

/** Which tools a hook or a guard looks at. */
export function checkToolNames(field: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== "string" || value.trim() === "") {
    throw refuse(
      `${field} is ${describeValue(value)}. Give a tool's name, several as "A|B", a pattern as "mcp__*", or leave it out for all.`,
    );
  }
  for (const name of value.split("|").map((part) => part.trim())) {
    if (name === "")
      throw refuse(`${field} is ${describeValue(value)}: a name is missing beside "|". Give one on both sides.`);
    if (!/[()\s]/.test(name)) continue;
    throw refuse(
      `${field} is ${describeValue(value)}. Give names only, without arguments: look at the input where it is checked.`,
    );
  }
}

export function checkTimeout(field: string, value: unknown): void {
  if (value === undefined || (typeof value === "number" && Number.isFinite(value) && value > 0)) return;
  throw refuse(`${field} is ${describeValue(value)}. Give a number of milliseconds; fewer than 1000 count as 1000.`);
}

export function checkFunction(field: string, value: unknown): void {
  if (typeof value === "function") return;
  throw refuse(`${field} is ${describeValue(value)}. Give a function.`);
}
