import { type Cover, coverValue, joinedTexts } from "./cover-value.ts";
import { LONG_TEXT } from "./long-texts.ts";

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
  readonly length: number;
  at: number;
  /** The number of values in it so far, at any depth. */
  count: number;
  isClean: boolean;
}

/** Whether a value is so large, or has so long a text, that masking it takes long. Stops counting as soon as it is. */
export function isLargeValue(value: unknown): boolean {
  return countMembers(value, SMALL, 0) >= SMALL;
}

/** Searching 64 characters takes about as long as visiting a member. */
function weigh(text: string): number {
  return 1 + (text.length >> 6);
}

function countMembers(value: unknown, most: number, depth: number): number {
  if (typeof value === "string") return weigh(value);
  if (typeof value !== "object" || value === null || depth > DEEPEST || ArrayBuffer.isView(value)) return 1;
  let count = 1;
  // Of a long list, `for in` and `Object.keys` would list all indices first. `Object.values` of an object with very many
  // fields takes several times as long as its names.
  const names = Array.isArray(value) ? undefined : Object.keys(value);
  const { length } = names ?? (value as readonly unknown[]);
  for (let at = 0; at < length && count < most; at += 1) {
    count += countMembers(memberAt(value, names, at), most - count, depth + 1);
  }
  return count;
}

function memberAt(value: object, names: readonly string[] | undefined, at: number): unknown {
  return names === undefined
    ? (value as readonly unknown[])[at]
    : (value as Readonly<Record<string, unknown>>)[names[at] as string];
}

/**
 * Searches a large value for secrets, a few members in each turn of the event loop, and adds its large parts without
 * any to `cover.clean`. A value of 16 MB may have millions of members: searching them all at once blocks the event loop.
 * `search` does the same for a long text, which `cover` then knows.
 */
export async function findClean(
  value: object,
  cover: Cover & { readonly clean: WeakSet<object> },
  search: (text: string) => Promise<void>,
  nextTurn: () => Promise<void>,
): Promise<void> {
  const { clean } = cover;
  const open: Opened[] = [await openValue(value, cover, search)];
  for (let searched = 1; ; searched += 1) {
    const last = open.at(-1);
    if (last === undefined) return;
    if (searched >= TURN_MEMBERS) {
      searched = 0;
      await nextTurn();
    }
    if (last.at === last.length) {
      open.pop();
      close(last, open.at(-1), clean);
      continue;
    }
    const name = last.names?.[last.at];
    const member = memberAt(last.value, last.names, last.at);
    last.at += 1;
    if (name !== undefined && name.length >= LONG_TEXT) await search(name);
    if (name !== undefined && cover(name) !== name) last.isClean = false;
    if (!isPlain(member)) {
      const weight = typeof member === "string" ? weigh(member) : 1;
      last.count += weight;
      if (typeof member === "string" && member.length >= LONG_TEXT) await search(member);
      else searched += weight;
      if (coverValue(member, cover) !== member) last.isClean = false;
    } else if (open.length >= DEEPEST) last.isClean = false;
    else if (clean.has(member)) last.count += SMALL;
    else open.push(await openValue(member, cover, search));
  }
}

async function openValue(value: object, cover: Cover, search: (text: string) => Promise<void>): Promise<Opened> {
  const isList = Array.isArray(value);
  const names = isList ? undefined : Object.keys(value);
  const { length } = names ?? (value as readonly unknown[]);
  // A secret may begin in one block of text and end in the next, so such lists are searched as a whole.
  const joined = isList ? joinedTexts(value) : [];
  for (const text of joined) if (text.length >= LONG_TEXT) await search(text);
  const isClean = joined.every((text) => cover(text) === text);
  return { value, names, length, at: 0, count: 1, isClean };
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
