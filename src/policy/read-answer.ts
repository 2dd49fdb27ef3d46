/** What user code answered, read once. `wrong` says what is wrong with it, as the end of a sentence. */
export type Read<Answer> =
  | { readonly fits: true; readonly answer: Answer }
  | { readonly fits: false; readonly wrong: string };

/**
 * The fields of an answer, each looked at once: a getter cannot say one thing to the check and another to us.
 * Fields that are `undefined` count as left out. Anything but a plain object is no answer.
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

/** A value for an error message: what sort of thing it is, never its content. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object of a class";
  return value === undefined ? "nothing" : `a ${typeof value}`;
}

/** Plain in whatever realm it was made: its prototype is none, or one that has none itself. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === null || Object.getPrototypeOf(prototype) === null;
  } catch {
    return false;
  }
}
