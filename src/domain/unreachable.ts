/** Ends a `switch` over a union: an unhandled variant is a compile error here. */
export function unreachable(value: never): never {
  throw new TypeError(`Unhandled variant: ${JSON.stringify(value)}`);
}
