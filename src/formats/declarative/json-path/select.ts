import { unreachable } from "#domain";
import { isRecord } from "#wire";
import { MAX_DESCENT_DEPTH } from "../limits.ts";
import { readField, readItem } from "../steps.ts";
import { createEffort, isSpent, spend } from "./effort.ts";
import { passes, type Reading } from "./filter.ts";
import type { Segment, Selector, Slice } from "./syntax.ts";

/**
 * The values a JSONPath finds, in the order of RFC 9535: parents before what is in them, lists in their order, objects
 * in the order of their fields. `undefined` when finding them costs more than a path may.
 *
 * Own properties only. Nothing here recurses with the value, so its depth and length do not matter to the stack.
 */
export function selectValues(segments: readonly Segment[], root: unknown): readonly unknown[] | undefined {
  const reading: Reading = { root, effort: createEffort(), select };
  const values = select(segments, root, reading);
  return isSpent(reading.effort) ? undefined : values;
}

/** Breadth first, one list of values per segment. */
function select(segments: readonly Segment[], start: unknown, reading: Reading): readonly unknown[] {
  let values: readonly unknown[] = [start];
  for (const { descends, selectors } of segments) {
    const found: unknown[] = [];
    for (const value of values) {
      if (!spend(reading.effort, 1)) return [];
      if (descends) selectBelow(value, selectors, { reading, found });
      else selectChildren(value, selectors, { reading, found });
    }
    values = found;
  }
  return values;
}

interface Search {
  readonly reading: Reading;
  readonly found: unknown[];
}

/** Applies the selectors to the value and everything in it, parents first. */
function selectBelow(start: unknown, selectors: readonly Selector[], search: Search): void {
  const { effort } = search.reading;
  const values: unknown[] = [start];
  const depths: number[] = [0];
  while (values.length > 0) {
    const value = values.pop();
    const depth = depths.pop() ?? 0;
    selectChildren(value, selectors, search);
    if (depth + 1 >= MAX_DESCENT_DEPTH) continue;
    const children = childrenOf(value);
    if (!spend(effort, children.length)) return;
    // From the last to the first, because the one pushed last is taken first. What has no children selects nothing.
    for (let index = children.length - 1; index >= 0; index -= 1) {
      const child = children[index];
      if (typeof child !== "object" || child === null) continue;
      values.push(child);
      depths.push(depth + 1);
    }
  }
}

function selectChildren(value: unknown, selectors: readonly Selector[], search: Search): void {
  if (typeof value !== "object" || value === null) return;
  for (const selector of selectors) {
    if (!spend(search.reading.effort, 1)) return;
    selectBy(selector, value, search);
  }
}

function selectBy(selector: Selector, value: unknown, search: Search): void {
  switch (selector.kind) {
    case "name":
      return keep(readField(value, selector.name), search);
    case "index":
      return keep(readItem(value, selector.index), search);
    case "slice":
      return selectSlice(value, selector.slice, search);
    case "wildcard": {
      const children = childrenOf(value);
      if (!spend(search.reading.effort, children.length)) return;
      for (const child of children) keep(child, search);
      return;
    }
    case "filter":
      for (const child of childrenOf(value)) {
        if (!spend(search.reading.effort, 1)) return;
        if (passes(selector.test, child, search.reading)) keep(child, search);
      }
      return;
    default:
      return unreachable(selector);
  }
}

function keep(value: unknown, search: Search): void {
  if (value !== undefined) search.found.push(value);
}

function selectSlice(value: unknown, { start, end, step }: Slice, search: Search): void {
  if (!Array.isArray(value) || step === 0) return;
  const { length } = value;
  // RFC 9535, section 2.3.4.2.2. Downwards, the ends are one lower than upwards: -1 is before the first item.
  const lowest = step > 0 ? 0 : -1;
  const highest = step > 0 ? length : length - 1;
  const bound = (given: number): number => clamp(given < 0 ? given + length : given, lowest, highest);
  const from = start === undefined ? (step > 0 ? lowest : highest) : bound(start);
  const to = end === undefined ? (step > 0 ? highest : lowest) : bound(end);
  for (let index = from; step > 0 ? index < to : index > to; index += step) {
    if (!spend(search.reading.effort, 1)) return;
    keep(value[index], search);
  }
}

function clamp(value: number, lowest: number, highest: number): number {
  return Math.min(Math.max(value, lowest), highest);
}

function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
}
