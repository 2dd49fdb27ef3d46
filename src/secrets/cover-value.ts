/** Deeper values are hidden as a whole. */
const DEEPEST = 200;

/** Replaces a value that cannot be masked. */
export const HIDDEN = "[hidden]";

/** Masks a text. */
export interface Cover {
  (text: string): string;
  /** Large values that are known to contain no secret. */
  readonly clean?: WeakSet<object> | undefined;
}

/**
 * Masks every string in a value, including field names. A value without a secret is returned unchanged (the same
 * object).
 */
export function coverValue<Value>(value: Value, cover: Cover): Value {
  return coverInner(value, cover, 0) as Value;
}

function coverInner(value: unknown, cover: Cover, depth: number): unknown {
  if (typeof value === "string") return cover(value);
  if (typeof value !== "object" || value === null) return value;
  if (cover.clean?.has(value) === true) return value;
  if (depth > DEEPEST) return HIDDEN;
  if (value instanceof Uint8Array) return coverBytes(value, cover);
  if (Array.isArray(value)) return coverList(value, cover, depth);
  if (hasToJson(value)) return coverJson(value, cover, depth);
  return coverFields(value as Readonly<Record<string, unknown>>, cover, depth);
}

function coverList(given: readonly unknown[], cover: Cover, depth: number): readonly unknown[] {
  const list = coverBlocks(given, cover);
  let copy: unknown[] | undefined;
  for (let at = 0; at < list.length; at += 1) {
    const covered = coverInner(list[at], cover, depth + 1);
    if (covered === list[at]) continue;
    copy ??= [...list];
    copy[at] = covered;
  }
  return copy ?? list;
}

interface TextBlock {
  readonly type: unknown;
  readonly text: string;
}

/** Neighbouring blocks of text are read as one text: a secret may begin in one and end in another. */
function coverBlocks(list: readonly unknown[], cover: Cover): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const { from, blocks } of findNeighbours(list)) {
    const text = joinTexts(blocks);
    const covered = cover(text);
    if (covered === text) continue;
    copy ??= [...list];
    let at = 0;
    for (const [index, block] of blocks.entries()) {
      copy[from + index] = { ...block, text: covered.slice(at, (at += block.text.length)) };
    }
  }
  return copy ?? list;
}

/** The texts of neighbouring blocks of one kind, as they are read. */
export function joinedTexts(list: readonly unknown[]): readonly string[] {
  return findNeighbours(list).map(({ blocks }) => joinTexts(blocks));
}

const joinTexts = (blocks: readonly TextBlock[]): string => blocks.map(({ text }) => text).join("");

interface Neighbours {
  readonly from: number;
  readonly blocks: readonly TextBlock[];
}

const NONE: readonly Neighbours[] = [];

/** Rows of two or more blocks of text of one kind. */
function findNeighbours(list: readonly unknown[]): readonly Neighbours[] {
  let found: Neighbours[] | undefined;
  for (let from = 0, end = 0; from < list.length; from = end) {
    const first = list[from];
    for (end = from + 1; isTextBlock(first) && end < list.length; end += 1) {
      const next = list[end];
      if (!isTextBlock(next) || next.type !== first.type) break;
    }
    if (end - from > 1) (found ??= []).push({ from, blocks: list.slice(from, end) as readonly TextBlock[] });
  }
  return found ?? NONE;
}

function isTextBlock(value: unknown): value is TextBlock {
  return (
    typeof value === "object" && value !== null && "type" in value && "text" in value && typeof value.text === "string"
  );
}

function coverFields(
  fields: Readonly<Record<string, unknown>>,
  cover: Cover,
  depth: number,
): Readonly<Record<string, unknown>> {
  const names = Object.keys(fields);
  let copy: [string, unknown][] | undefined;
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] as string;
    const shown = cover(name);
    const covered = coverInner(fields[name], cover, depth + 1);
    if (copy === undefined && (shown !== name || covered !== fields[name])) {
      copy = names.slice(0, at).map((before): [string, unknown] => [before, fields[before]]);
    }
    copy?.push([shown, covered]);
  }
  return copy === undefined ? fields : Object.fromEntries(copy);
}

/** Dates, URLs and other objects with a `toJSON` method. */
function coverJson(value: { toJSON(): unknown }, cover: Cover, depth: number): unknown {
  try {
    const json = value.toJSON();
    const covered = coverInner(json, cover, depth + 1);
    return covered === json ? value : covered;
  } catch {
    return value;
  }
}

/** The bytes of a frame are the UTF-8 bytes of its text. */
function coverBytes(bytes: Uint8Array, cover: Cover): Uint8Array {
  const text = new TextDecoder().decode(bytes);
  const covered = cover(text);
  return covered === text ? bytes : new TextEncoder().encode(covered);
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}
