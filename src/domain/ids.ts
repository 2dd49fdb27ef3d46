/**
 * Ids that we create or accept as part of a path, a key or a header: short, and without characters that are special
 * there.
 */
const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether a text may serve as an id. A trailing newline is rejected. */
export function isId(value: unknown): value is string {
  // Without the `m` flag, `$` does not match before a trailing newline. The length is checked first: the text may be long.
  return typeof value === "string" && value.length <= 64 && ID.test(value);
}
