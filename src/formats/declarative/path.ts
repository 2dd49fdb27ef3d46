import { MAX_PATH_LENGTH } from "./limits.ts";
import { refuse, refuseReserved } from "./refusal.ts";
import { compileRfcPath } from "./rfc-path.ts";
import { compileSteps, type Path, type Step } from "./steps.ts";

const FORMS = 'Write a.b.c, items[0], items[].name, or a JSONPath that starts with "$"';

/**
 * Compiles a path.
 *
 * Short form: `a.b.c`, `items[0]`, `items[].name`, any mixture; names hold no `.`, `[`, `]`, quote or blank. `[]`
 * collects from all items, leaves out items that lack the rest of the path, and flattens: `a[].b[].c` is one list.
 * It gives `undefined` when there is no list, or a list with items of which none has the rest.
 *
 * JSONPath (RFC 9535) when it starts with `$` and a dot, a bracket or a blank: all of it but functions. One node gives
 * its value, several a list, none `undefined`. `..` looks 64 levels deep, and what would cost more than looking at two
 * million nodes finds nothing.
 *
 * A text is no list and no object: `name[0]` and `name.length` of a text are `undefined`.
 *
 * @param where the name of the field the path stands in, for the message
 * @throws StartError `invalid-format` when it is neither
 * @example
 * compilePath("content[].text").read({ content: [{ text: "a" }, {}, { text: "b" }] }) // ["a", "b"]
 */
export function compilePath(source: string, where = "path"): Path {
  if (source.length > MAX_PATH_LENGTH) {
    refuse(where, source, `is ${source.length} characters long`, `A path has at most ${MAX_PATH_LENGTH} characters`);
  }
  if (isJsonPath(source)) return compileRfcPath(source, where);
  return compileSteps(source, parseShortPath(source, where));
}

/** A short path may start with `$`, too, as in `$ref`. */
function isJsonPath(source: string): boolean {
  return source === "$" || (source.startsWith("$") && ".[ \t\n\r".includes(source.charAt(1)));
}

function parseShortPath(source: string, where: string): Step[] {
  const steps: Step[] = [];
  let position = 0;
  // A name is due at the start and after each dot; brackets may follow it, or stand in its place at the very start.
  while (position < source.length || steps.length === 0) {
    if (!(position === 0 && source[0] === "[")) {
      const end = endOfName(source, position);
      const name = source.slice(position, end);
      checkName(name, { source, where, position });
      steps.push({ name });
      position = end;
    }
    position = parseBrackets(source, position, steps, where);
    if (position === source.length) return steps;
    if (source[position] !== ".") {
      refuse(where, source, `has an unexpected ${show(source, position)} at position ${position}`, `${FORMS}.`);
    }
    position += 1;
    if (position === source.length) refuse(where, source, "ends in a dot", `${FORMS}.`);
  }
  return steps;
}

function parseBrackets(source: string, start: number, steps: Step[], where: string): number {
  let position = start;
  while (source[position] === "[") {
    const end = source.indexOf("]", position);
    if (end === -1) refuse(where, source, `has a "[" at position ${position} that is never closed`, `${FORMS}.`);
    const inside = source.slice(position + 1, end);
    if (inside === "") steps.push("each");
    else if (isIndex(inside)) steps.push({ index: Number(inside) });
    else
      refuse(
        where,
        source,
        `has ${JSON.stringify(inside)} between brackets`,
        `Write a number or nothing there, or $['name'].`,
      );
    position = end + 1;
  }
  return position;
}

/** Digits without leading zeros, few enough to be exact. */
function isIndex(text: string): boolean {
  if (text.length > 9 || (text.length > 1 && text.startsWith("0"))) return false;
  for (const character of text) if (character < "0" || character > "9") return false;
  return true;
}

function endOfName(source: string, start: number): number {
  let position = start;
  while (position < source.length && source[position] !== "." && source[position] !== "[") position += 1;
  return position;
}

function checkName(name: string, at: { source: string; where: string; position: number }): void {
  if (name === "") refuse(at.where, at.source, `has an empty name at position ${at.position}`, `${FORMS}.`);
  refuseReserved(at.where, at.source, name);
  for (const character of name) {
    if (character <= " " || character === "]" || character === '"' || character === "'" || character === "\u007f") {
      refuse(at.where, at.source, `has ${JSON.stringify(character)} in a name`, "Write such a name as $['name'].");
    }
  }
}

function show(source: string, position: number): string {
  return JSON.stringify(source[position] ?? "");
}
