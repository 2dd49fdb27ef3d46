import { coverValue, hasNeighbouringTexts } from "./cover-value.ts";

/** A value with fewer members is masked at once, and not remembered. */
const SMALL = 1000;

/** How many members are searched in one turn of the event loop. */
const TURN_MEMBERS = 20_000;

/** Deeper values are left to the mask, which hides them. It also ends the search of a value that contains itself. */
const DEEPEST = 200;

/** A list or an object whose members are being searched. */
interface Opened {
  readonly value: object;
  readonly names: readonly string[] | undefined;
  readonly members: readonly unknown[];
  at: number;
  /** The number of values in it so far, at any depth. */
  count: number;
  isClean: boolean;
}

/** Whether a value is so large that masking it takes long. Stops counting as soon as it is. */
export function isLargeValue(value: unknown): boolean {
  return countMembers(value, SMALL, 0) >= SMALL;
}

function countMembers(value: unknown, most: number, depth: number): number {
  if (typeof value !== "object" || value === null || depth > DEEPEST || ArrayBuffer.isView(value)) return 1;
  let count = 1;
  // Of a long list, `for in` and `Object.keys` would list all indices first.
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (let at = 0; at < members.length && count < most; at += 1) {
    count += countMembers(members[at], most - count, depth + 1);
  }
  return count;
}

/**
 * Searches a large value for secrets, a few members in each turn of the event loop, and adds its large parts without
 * any to `clean`. A value of 16 MB may have millions of members: searching them all at once blocks the event loop.
 */
export async function findClean(
  value: object,
  clean: WeakSet<object>,
  cover: (text: string) => string,
  nextTurn: () => Promise<void>,
): Promise<void> {
  const open: Opened[] = [openValue(value)];
  for (let searched = 1; ; searched += 1) {
    const last = open.at(-1);
    if (last === undefined) return;
    if (searched % TURN_MEMBERS === 0) await nextTurn();
    if (last.at === last.members.length) {
      open.pop();
      close(last, open.at(-1), clean);
      continue;
    }
    const name = last.names?.[last.at];
    const member = last.members[last.at];
    last.at += 1;
    if (name !== undefined && cover(name) !== name) last.isClean = false;
    if (!isPlain(member)) {
      last.count += 1;
      if (coverValue(member, cover) !== member) last.isClean = false;
    } else if (open.length >= DEEPEST) last.isClean = false;
    else if (clean.has(member)) last.count += SMALL;
    else open.push(openValue(member));
  }
}

function openValue(value: object): Opened {
  const isList = Array.isArray(value);
  const names = isList ? undefined : Object.keys(value);
  const members: readonly unknown[] = isList ? value : Object.values(value);
  // A secret may begin in one block of text and end in the next, so such lists are searched as a whole.
  const isClean = !(isList && hasNeighbouringTexts(value));
  return { value, names, members, at: 0, count: 1, isClean };
}

function close({ value, count, isClean }: Opened, parent: Opened | undefined, clean: WeakSet<object>): void {
  if (isClean && count >= SMALL) clean.add(value);
  if (parent === undefined) return;
  parent.count += count;
  if (!isClean) parent.isClean = false;
}

/** A list or an object without a form of its own. */
function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && !("toJSON" in value);
}
