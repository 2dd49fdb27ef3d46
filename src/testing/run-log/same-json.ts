/** Whether two JSON values are equal. The order of keys does not matter. */
export function isSameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((element, index) => isSameJson(element, right[index]));
  }
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  // `hasOwn` first: a missing key must not be found on the prototype.
  return keys.every(
    (key) =>
      Object.hasOwn(right, key) &&
      isSameJson((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key]),
  );
}
