/** Ids we make or accept as part of a path, a key or a header: short, and nothing that could mean anything there. */
const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether a text may serve as an id. A trailing newline is not forgiven. */
export function isId(value: unknown): value is string {
  // `$` alone would let "id\n" pass in a multiline pattern; this one is not, and the length is checked on the text itself.
  return typeof value === "string" && value.length <= 64 && ID.test(value);
}
