import { escapeUnprintable, findUnprintable, markerSequence, SGR_RESET, stripUnprintable } from "./ansi.ts";
import { MAX_RENDERED_LENGTH, MAX_TEMPLATE_LENGTH } from "./limits.ts";
import { compilePath, type Path } from "./path.ts";
import { refuse } from "./refusal.ts";

/** The target of a template: plain text, a terminal with colours, or JSON. */
export type TemplateStyle = "text" | "ansi" | "json";

/** A compiled template. */
export interface Template {
  readonly source: string;
  render(fields: Readonly<Record<string, unknown>>): string;
}

/**
 * Compiles a template.
 *
 * `@evt.path` is replaced by a field of the event (`@evt.input.command`, `@evt.items[0]`); `@@` and `\@` are an `@`,
 * `%%` is a `%`; `%red%`, `%bold%`, `%bg_blue%`, `%reset%` … are colours: expanded in `ansi` (and reset at the end),
 * removed in `text` and `json`. Everything else stays as it is.
 *
 * In `text` and `ansi`, a missing field and `null` are empty, objects are JSON, and characters that a terminal would
 * interpret are removed from values. In `json`, each value is one JSON value, and a missing field is `null`. Inserted
 * values are not expanded again: a value that looks like a variable or a marker stays as it is. Values are cut once the
 * result has 16,777,216 characters.
 *
 * @param where the name of the field that contains the template, for error messages
 * @throws StartError `invalid-format` if it is too long or contains control characters
 * @example
 * compileTemplate("%cyan%[@evt.name]%reset%", "ansi").render({ name: "Bash" }) // "\u001b[36m[Bash]\u001b[0m"
 */
export function compileTemplate(source: string, style: TemplateStyle, where = "template"): Template {
  if (source.length > MAX_TEMPLATE_LENGTH) {
    const remedy = `A template has at most ${MAX_TEMPLATE_LENGTH} characters.`;
    refuse(where, source, `is ${source.length} characters long`, remedy);
  }
  const unprintable = findUnprintable(source);
  if (unprintable !== -1) {
    const remedy = "Colours are written %red% and %reset%; other control characters are not allowed.";
    refuse(where, source, `contains a control character at position ${unprintable}`, remedy);
  }
  const parts = parseTemplate(source, style, where);
  return { source, render: (fields) => renderParts(parts, fields, style) };
}

/** Literal text, or the path of a variable. */
type Part = string | Path;

function parseTemplate(source: string, style: TemplateStyle, where: string): Part[] {
  const parts: Part[] = [];
  let literal = "";
  let colourIsOpen = false;
  let position = 0;
  while (position < source.length) {
    const special = nextSpecial(source, position);
    literal += source.slice(position, special);
    if (special === source.length) break;
    const token = readToken(source, special);
    position = token.end;
    if (token.kind === "literal") {
      literal += token.text;
    } else if (token.kind === "marker") {
      if (style !== "ansi") continue;
      literal += token.sequence;
      colourIsOpen = token.sequence !== SGR_RESET;
    } else {
      parts.push(literal, compilePath(token.path, where));
      literal = "";
    }
  }
  parts.push(colourIsOpen ? literal + SGR_RESET : literal);
  return parts.filter((part) => part !== "");
}

type Token =
  | { readonly kind: "literal"; readonly text: string; readonly end: number }
  | { readonly kind: "marker"; readonly sequence: string; readonly end: number }
  | { readonly kind: "variable"; readonly path: string; readonly end: number };

const VARIABLE = "@evt.";
/** Longer than any marker's name. Bounds the search for the closing `%`, so that many of them stay linear. */
const LONGEST_MARKER = 24;

function nextSpecial(source: string, start: number): number {
  let position = start;
  while (position < source.length) {
    const character = source[position];
    if (character === "@" || character === "%" || (character === "\\" && source[position + 1] === "@")) return position;
    position += 1;
  }
  return position;
}

/** Reads the token at an `@`, a `%` or a `\@`. */
function readToken(source: string, start: number): Token {
  const character = source[start] ?? "";
  const next = source[start + 1];
  if (character === "\\") return { kind: "literal", text: "@", end: start + 2 };
  if (next === character) return { kind: "literal", text: character, end: start + 2 };
  if (character === "@") {
    const end = source.startsWith(VARIABLE, start) ? endOfVariable(source, start + VARIABLE.length) : -1;
    if (end !== -1) return { kind: "variable", path: source.slice(start + VARIABLE.length, end), end };
  } else {
    const end = endOfMarker(source, start);
    const sequence = end === -1 ? undefined : markerSequence(source.slice(start + 1, end - 1));
    if (sequence !== undefined) return { kind: "marker", sequence, end };
    // An unknown marker stays whole, so that its second `%` is not read as half of an escape.
    if (end !== -1) return { kind: "literal", text: source.slice(start, end), end };
  }
  return { kind: "literal", text: character, end: start + 1 };
}

/** The end of `%letters_%`, given the index of its first `%`; -1 if there is no marker. */
function endOfMarker(source: string, start: number): number {
  let end = start + 1;
  while (isLetter(source[end]) && end - start <= LONGEST_MARKER) end += 1;
  return end > start + 1 && source[end] === "%" ? end + 1 : -1;
}

/** The end of `name`, `.name` and `[0]` from `start` on; -1 if there is no name. Punctuation after it is text. */
function endOfVariable(source: string, start: number): number {
  let end = endOfWord(source, start);
  if (end === start) return -1;
  for (;;) {
    const next = source[end] === "." ? endOfWord(source, end + 1) : endOfIndex(source, end);
    if (next <= end + 1) return end;
    end = next;
  }
}

/** The end of a word of letters, digits, `_` and inner `-` that starts with a letter or `_`; `start` when there is none. */
function endOfWord(source: string, start: number): number {
  if (!isLetter(source[start])) return start;
  let end = start + 1;
  while (isWordCharacter(source[end]) || (source[end] === "-" && isWordCharacter(source[end + 1]))) end += 1;
  return end;
}

/** The end of `[12]`; `start` if there is none. */
function endOfIndex(source: string, start: number): number {
  if (source[start] !== "[") return start;
  let end = start + 1;
  while (isDigit(source[end])) end += 1;
  const digits = end - start - 1;
  const isWhole = digits > 0 && digits <= 9 && (digits === 1 || source[start + 1] !== "0");
  return isWhole && source[end] === "]" ? end + 1 : start;
}

function isLetter(character: string | undefined): boolean {
  if (character === undefined) return false;
  return (character >= "a" && character <= "z") || (character >= "A" && character <= "Z") || character === "_";
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= "0" && character <= "9";
}

function isWordCharacter(character: string | undefined): boolean {
  return isLetter(character) || isDigit(character);
}

function renderParts(parts: readonly Part[], fields: Readonly<Record<string, unknown>>, style: TemplateStyle): string {
  let text = "";
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    // Only values are cut: the literals contain the sequences that reset the colours.
    const room = MAX_RENDERED_LENGTH - text.length;
    if (room <= 0) continue;
    const value = renderValue(part.read(fields), style);
    text += value.length <= room ? value : `${value.slice(0, room - 1)}…`;
  }
  return text;
}

function renderValue(value: unknown, style: TemplateStyle): string {
  if (style === "json") return escapeUnprintable(encodeJson(value));
  if (value === undefined || value === null) return "";
  return stripUnprintable(typeof value === "string" ? value : encodeJson(value));
}

/** Gives `null` for values without JSON: `undefined`, and nesting too deep for the stack. */
function encodeJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return "null";
  }
}
