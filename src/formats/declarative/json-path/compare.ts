import { unreachable } from "#domain";
import { isRecord, type JsonRecord } from "#wire";
import { type Effort, spend } from "./effort.ts";
import type { Operator } from "./syntax.ts";

/** Texts are compared at memory speed: this many units cost about as much as looking at one node. */
const UNITS_PER_EFFORT = 64;

/**
 * Compares two values as RFC 9535 does (section 2.3.5.2.2); `undefined` is a path that found nothing. Only numbers and
 * texts have an order; what has none is neither less nor greater, and may still be equal.
 */
export function compare(operator: Operator, left: unknown, right: unknown, effort: Effort): boolean {
  switch (operator) {
    case "==":
      return isEqual(left, right, effort);
    case "!=":
      return !isEqual(left, right, effort);
    case "<":
      return isLess(left, right, effort);
    case ">":
      return isLess(right, left, effort);
    case "<=":
      return isLess(left, right, effort) || isEqual(left, right, effort);
    case ">=":
      return isLess(right, left, effort) || isEqual(left, right, effort);
    default:
      return unreachable(operator);
  }
}

function isEqual(left: unknown, right: unknown, effort: Effort): boolean {
  if (typeof left === "object" && left !== null) return isDeeplyEqual(left, right, effort);
  return spend(effort, costOfTexts(left, right)) && left === right;
}

/** With a list of pairs still to be compared and no recursion, because values may be nested deeply. */
function isDeeplyEqual(first: unknown, second: unknown, effort: Effort): boolean {
  const pairs: [unknown, unknown][] = [[first, second]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [left, right] = pair;
    if (!spend(effort, costOfTexts(left, right))) return false;
    if (left === right) continue;
    if (Array.isArray(left) && Array.isArray(right)) {
      if (left.length !== right.length || !spend(effort, left.length)) return false;
      for (const [index, item] of left.entries()) pairs.push([item, right[index]]);
    } else if (!isRecord(left) || !isRecord(right) || !pushFields(pairs, left, right, effort)) {
      return false;
    }
  }
  return true;
}

/** False when the two have not the same names. */
function pushFields(pairs: [unknown, unknown][], left: JsonRecord, right: JsonRecord, effort: Effort): boolean {
  const names = Object.keys(left);
  const others = Object.keys(right);
  if (!spend(effort, names.length + others.length) || names.length !== others.length) return false;
  for (const name of names) {
    if (!Object.hasOwn(right, name)) return false;
    pairs.push([left[name], right[name]]);
  }
  return true;
}

function isLess(left: unknown, right: unknown, effort: Effort): boolean {
  if (typeof left === "number" && typeof right === "number") return left < right;
  if (typeof left !== "string" || typeof right !== "string") return false;
  // Found one unit at a time, unlike equality.
  const length = Math.min(left.length, right.length);
  let position = 0;
  while (position < length && left.charCodeAt(position) === right.charCodeAt(position)) position += 1;
  if (!spend(effort, position)) return false;
  if (position === length) return left.length < right.length;
  return rankOf(left.charCodeAt(position)) < rankOf(right.charCodeAt(position));
}

/** The order is that of characters. In units, those of surrogate pairs would come before U+E000 to U+FFFF. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function costOfTexts(left: unknown, right: unknown): number {
  if (typeof left !== "string" || typeof right !== "string" || left.length !== right.length) return 1;
  return 1 + Math.floor(left.length / UNITS_PER_EFFORT);
}
