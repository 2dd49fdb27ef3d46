/** Deeper than anything the wire accepts; a cycle reaches it too. */
const MAX_DEPTH = 1000;

/** The path at which a value is not JSON, such as `.data[2].when`; `undefined` if all of it is JSON. */
export function findUnsafe(value: unknown, path = "", depth = 0): string | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : `${path} is ${value}`;
    case "object":
      break;
    default:
      return `${path} is of type ${typeof value}`;
  }
  if (value === null) return undefined;
  if (depth > MAX_DEPTH) return `${path.slice(0, 80)}… is nested deeper than ${MAX_DEPTH} levels, or is a cycle`;
  if (Array.isArray(value)) return findUnsafeElement(value, path, depth);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return `${path} is not a plain object`;
  if (Object.getOwnPropertySymbols(value).length > 0) return `${path} has a symbol as a key`;
  for (const [key, member] of Object.entries(value)) {
    const unsafe = findUnsafe(member, `${path}.${key}`, depth + 1);
    if (unsafe !== undefined) return unsafe;
  }
  return undefined;
}

// By index, because `for … of` would show a hole as an ordinary `undefined` and `forEach` would skip it.
function findUnsafeElement(list: readonly unknown[], path: string, depth: number): string | undefined {
  for (let index = 0; index < list.length; index += 1) {
    const unsafe = findUnsafe(list[index], `${path}[${index}]`, depth + 1);
    if (unsafe !== undefined) return unsafe;
  }
  return undefined;
}
