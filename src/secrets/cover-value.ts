/** Deeper values are shown as their JSON would be, or not at all. */
const DEEPEST = 200;

/** What stands for a value that cannot be covered. */
export const HIDDEN = "[hidden]";

/** Every text of a value covered, the names of its fields among them. A value without a secret is given back as it is. */
export function coverValue<Value>(value: Value, cover: (text: string) => string): Value {
  return coverInner(value, cover, 0) as Value;
}

function coverInner(value: unknown, cover: (text: string) => string, depth: number): unknown {
  if (typeof value === "string") return cover(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > DEEPEST) return HIDDEN;
  if (value instanceof Uint8Array) return coverBytes(value, cover);
  if (Array.isArray(value)) return coverList(value, cover, depth);
  if (hasToJson(value)) return coverJson(value, cover, depth);
  return coverFields(value as Readonly<Record<string, unknown>>, cover, depth);
}

function coverList(list: readonly unknown[], cover: (text: string) => string, depth: number): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < list.length; at += 1) {
    const covered = coverInner(list[at], cover, depth + 1);
    if (covered === list[at]) continue;
    copy ??= [...list];
    copy[at] = covered;
  }
  return copy ?? list;
}

function coverFields(
  fields: Readonly<Record<string, unknown>>,
  cover: (text: string) => string,
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

/** Dates, addresses and whatever else says how it is written. */
function coverJson(value: { toJSON(): unknown }, cover: (text: string) => string, depth: number): unknown {
  try {
    const json = value.toJSON();
    const covered = coverInner(json, cover, depth + 1);
    return covered === json ? value : covered;
  } catch {
    return value;
  }
}

/** The bytes of a frame are the bytes of its text. */
function coverBytes(bytes: Uint8Array, cover: (text: string) => string): Uint8Array {
  const text = new TextDecoder().decode(bytes);
  const covered = cover(text);
  return covered === text ? bytes : new TextEncoder().encode(covered);
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}
