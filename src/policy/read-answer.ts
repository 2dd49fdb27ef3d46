import { isPlainObject } from "#domain";

/** An answer of the caller's code, read once. `wrong` describes the fault and ends a sentence. */
export type Read<Answer> =
  | { readonly fits: true; readonly answer: Answer }
  | { readonly fits: false; readonly wrong: string };

/**
 * The fields of an answer, each read only once, so that a getter cannot return one value to the check and another to
 * the policy. Fields that are `undefined` count as left out. Anything but a plain object is invalid.
 */
export function readFields(value: unknown): Read<ReadonlyMap<string, unknown>> {
  if (!isPlainObject(value)) return { fits: false, wrong: `answered with ${kindOf(value)} instead of an object` };
  const fields = new Map<string, unknown>();
  try {
    for (const name of Object.keys(value)) {
      const field = (value as Readonly<Record<string, unknown>>)[name];
      if (field !== undefined) fields.set(name, field);
    }
  } catch {
    return { fits: false, wrong: "answered with an object that cannot be read" };
  }
  return { fits: true, answer: fields };
}

/** Describes a value in an error message by its kind, never by its content. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object of a class";
  return value === undefined ? "nothing" : `a ${typeof value}`;
}
