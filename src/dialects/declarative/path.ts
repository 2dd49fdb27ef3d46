import { MAX_PATH_LENGTH } from "./limits.ts";
import { refuse, refuseReserved } from "./refusal.ts";

/** The compiled location of a value in a frame. Reading never throws and uses own properties only. */
export interface Path {
  readonly source: string;
  /** The path may match several values and then gives a list of them. */
  readonly collects: boolean;
  /** The value at the path, or `undefined` if there is none. `null` is a value. */
  read(value: unknown): unknown;
}

/** One step of a path: into a field, into an item (negative: from the end), or into every item. */
type Step = { readonly name: string } | { readonly index: number } | "each";

const FORMS = "Write a.b.c, items[0], items[].name or ['name with blanks']";

/**
 * Compiles a path: `a.b.c`, `items[0]`, `items[-1]` (the last item), `items[].name`, `a['b.c']`, or any combination. A
 * leading `$` means the whole frame, as in `$.a.b`, and is optional.
 *
 * `[]` collects from all items, skips items that lack the rest of the path, and flattens: `a[].b[].c` is one list. It
 * gives `undefined` if there is no list, or if no item of a non-empty list has the rest.
 *
 * A string is neither a list nor an object: `name[0]` and `name.length` of a string are `undefined`.
 *
 * @param where the name of the field that contains the path, for error messages
 * @throws StartError `invalid-format` if the path is invalid
 * @example
 * compilePath("content[].text").read({ content: [{ text: "a" }, {}, { text: "b" }] }) // ["a", "b"]
 */
export function compilePath(source: string, where = "path"): Path {
  if (source.length > MAX_PATH_LENGTH) {
    refuse(where, source, `is ${source.length} characters long`, `A path has at most ${MAX_PATH_LENGTH} characters`);
  }
  const steps = parsePath(source, where);
  const first = steps[0];
  // Fast path: most paths, and those that every frame is matched with, name one top-level field.
  if (steps.length === 1 && first !== undefined && first !== "each" && "name" in first) {
    const { name } = first;
    return { source, collects: false, read: (value) => readField(value, name) };
  }
  if (steps.includes("each")) return { source, collects: true, read: (value) => collect(value, steps) };
  return { source, collects: false, read: (value) => walk(value, steps) };
}

function parsePath(source: string, where: string): Step[] {
  // A name may also start with "$", as in `$ref`.
  const isRooted = source === "$" || source.startsWith("$.") || source.startsWith("$[");
  const steps: Step[] = [];
  let position = isRooted ? 1 : 0;
  // Brackets may come at the very start; otherwise a name comes first, and a dot precedes each further name.
  if (!isRooted && source[0] !== "[") position = parseName(source, 0, steps, where);
  for (;;) {
    position = parseBrackets(source, position, steps, where);
    if (position === source.length) return steps;
    if (source[position] !== ".") {
      refuse(where, source, `has an unexpected ${show(source, position)} at position ${position}`, `${FORMS}.`);
    }
    if (position + 1 === source.length) refuse(where, source, "ends in a dot", `${FORMS}.`);
    position = parseName(source, position + 1, steps, where);
  }
}

function parseName(source: string, start: number, steps: Step[], where: string): number {
  let end = start;
  while (end < source.length && source[end] !== "." && source[end] !== "[") end += 1;
  const name = source.slice(start, end);
  if (name === "") refuse(where, source, `has an empty name at position ${start}`, `${FORMS}.`);
  if (name === "*") refuse(where, source, 'has "*" as a name', "Write items[] for every item.");
  for (const character of name) {
    if (character <= " " || "]\"'\u007f".includes(character)) {
      refuse(where, source, `has ${JSON.stringify(character)} in a name`, "Write such a name as ['name'].");
    }
  }
  refuseReserved(where, source, name);
  steps.push({ name });
  return end;
}

function parseBrackets(source: string, start: number, steps: Step[], where: string): number {
  let position = start;
  while (source[position] === "[") {
    const mark = source[position + 1];
    const quote = mark === "'" || mark === '"' ? mark : "";
    const open = position + 1 + quote.length;
    const end = source.indexOf(`${quote}]`, open);
    if (end === -1) refuse(where, source, `has a "[" at position ${position} that is never closed`, `${FORMS}.`);
    steps.push(readBracket(source.slice(open, end), quote, source, where));
    position = end + quote.length + 1;
  }
  return position;
}

function readBracket(inside: string, quote: string, source: string, where: string): Step {
  if (quote !== "") {
    refuseReserved(where, source, inside);
    // There are no escapes, and ['a','b'] is not one name.
    if (!inside.includes(quote) && !inside.includes("\\")) return { name: inside };
  } else if (inside === "") {
    return "each";
  } else if (/^(0|-?[1-9]\d{0,8})$/.test(inside)) {
    return { index: Number(inside) };
  }
  const remedy =
    inside === "*"
      ? "Write [] for every item"
      : "Write a number, a name in quotes, or nothing for every item; filters, slices and lists of names are not supported";
  return refuse(where, source, `has ${JSON.stringify(inside)} between brackets`, `${remedy}.`);
}

function show(source: string, position: number): string {
  return JSON.stringify(source[position] ?? "");
}

function walk(root: unknown, steps: readonly Step[]): unknown {
  let value = root;
  for (const step of steps) {
    value = readStep(value, step);
    if (value === undefined) return undefined;
  }
  return value;
}

/** Breadth first, with one list of values per step: the cost is that of the values visited, and no stack is needed. */
function collect(root: unknown, steps: readonly Step[]): unknown {
  let values: unknown[] = [root];
  let sawEmptyList = false;
  for (const step of steps) {
    const next: unknown[] = [];
    for (const value of values) {
      if (step !== "each") {
        const found = readStep(value, step);
        if (found !== undefined) next.push(found);
      } else if (Array.isArray(value)) {
        sawEmptyList ||= value.length === 0;
        for (const item of value) next.push(item);
      }
    }
    values = next;
  }
  return values.length === 0 && !sawEmptyList ? undefined : values;
}

function readStep(value: unknown, step: Step): unknown {
  if (step === "each") return undefined;
  if ("name" in step) return readField(value, step.name);
  return Array.isArray(value) ? value.at(step.index) : undefined;
}

/** An own field of an object. */
function readField(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) {
    return undefined;
  }
  return (value as Readonly<Record<string, unknown>>)[name];
}
