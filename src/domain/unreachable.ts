/** Closes a `switch` over a union: a variant nobody handles is a compile error here. */
export function unreachable(value: never): never {
  throw new TypeError(`Unhandled variant: ${JSON.stringify(value)}`);
}
