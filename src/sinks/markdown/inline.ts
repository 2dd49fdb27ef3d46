import type { Palette } from "../palette.ts";

/**
 * The maximum characters of a span, markers included. A longer one is shown as it is written, so that little is held
 * back and the search for its end stays cheap in long lines.
 */
export const MAX_SPAN = 400;

const SPECIAL = /[\\`*_~[!]/g;
const WORD = /[\p{L}\p{N}]/u;
const PUNCTUATION = /[!-/:-@[-`{-~]/;

/** An incomplete line: what can be shown, and what is held back. */
interface Reading {
  readonly shown: string;
  readonly rest: string;
}

interface Span {
  readonly shown: string;
  readonly end: number;
}

interface Line {
  readonly text: string;
  /** The line is complete. */
  readonly isWhole: boolean;
  /** The character before the text. */
  readonly before: string;
  readonly palette: Palette;
}

/**
 * Renders the emphasis, code and links of a line for a terminal. A span is held back until its end arrives, so output
 * never has to be retracted. The output does not depend on how the line is cut.
 */
export function readInline(line: Line): Reading {
  const { text, isWhole } = line;
  let shown = "";
  let at = 0;
  while (at < text.length) {
    const next = findSpecial(text, at);
    shown += text.slice(at, next);
    at = next;
    if (at === text.length) break;
    const span = readSpan(line, at);
    if (typeof span === "object") {
      shown += span.shown;
      at = span.end;
    } else if (span === "open" && !isWhole && text.length - at < MAX_SPAN) {
      return { shown, rest: text.slice(at) };
    } else {
      const end = runEnd(text, at);
      shown += text.slice(at, end);
      at = end;
    }
  }
  return { shown, rest: "" };
}

/** Renders a complete line. */
export function renderInline(text: string, palette: Palette): string {
  return readInline({ text, isWhole: true, before: "", palette }).shown;
}

/** What begins at a special character: a span, possibly one (`open`), or just this character. */
function readSpan(line: Line, at: number): Span | "open" | undefined {
  switch (line.text[at]) {
    case "\\":
      return readEscape(line, at);
    case "`":
      return readCode(line, at);
    case "[":
      return readLink(line, at, at);
    case "!":
      if (at + 1 === line.text.length) return "open";
      return line.text[at + 1] === "[" ? readLink(line, at, at + 1) : undefined;
    default:
      return readEmphasis(line, at);
  }
}

function readEscape({ text }: Line, at: number): Span | "open" | undefined {
  const next = text[at + 1];
  if (next === undefined) return "open";
  return PUNCTUATION.test(next) ? { shown: next, end: at + 2 } : undefined;
}

function readCode(line: Line, at: number): Span | "open" {
  const { text, palette } = line;
  const start = runEnd(text, at);
  const close = findRun(line, { from: start, opened: at, mark: "`", length: start - at });
  if (close === undefined) return "open";
  return { shown: palette.cyan(text.slice(start, close)), end: close + start - at };
}

function readEmphasis(line: Line, at: number): Span | "open" | undefined {
  const { text, palette } = line;
  const mark = text[at] ?? "";
  const start = runEnd(text, at);
  const length = start - at;
  if (start === text.length) return "open";
  const canOpen = length <= 3 && (mark !== "~" || length === 2) && !isBlank(text[start]);
  if (!canOpen || (mark === "_" && WORD.test(at === 0 ? line.before : (text[at - 1] ?? "")))) return undefined;
  const close = findRun(line, { from: start, opened: at, mark, length });
  if (close === undefined) return "open";
  const inner = renderInline(text.slice(start, close), palette);
  return { shown: paintEmphasis(inner, mark, length, palette), end: close + length };
}

function paintEmphasis(text: string, mark: string, length: number, palette: Palette): string {
  if (mark === "~") return palette.strike(text);
  if (length === 1) return palette.italic(text);
  return length === 2 ? palette.bold(text) : palette.bold(palette.italic(text));
}

/** The start of the marks that end a span. Marks at the end of the text may still be extended. */
function findRun(
  { text, isWhole }: Line,
  { from, opened, mark, length }: { from: number; opened: number; mark: string; length: number },
): number | undefined {
  const limit = Math.min(text.length, opened + MAX_SPAN);
  let at = from;
  while (at < limit) {
    const character = text[at];
    if (character === mark) {
      const end = runEnd(text, at);
      const isSettled = end < limit || (isWhole && end === text.length && end < opened + MAX_SPAN);
      // Three marks may end two spans: the inner one takes the rest.
      const fits = end - at === length || (mark === "*" && end - at === 3);
      if (isSettled && fits && canClose(text, at, end, mark)) return end - length;
      at = end;
    } else if (mark !== "`" && character === "\\") at += 2;
    else at += 1;
  }
  return undefined;
}

function canClose(text: string, at: number, end: number, mark: string): boolean {
  if (mark === "`") return true;
  if (isBlank(text[at - 1])) return false;
  return mark !== "_" || !WORD.test(text[end] ?? "");
}

/** `[text](address)`: both are shown, so that a link cannot hide its address. */
function readLink(line: Line, at: number, bracket: number): Span | "open" | undefined {
  const { text, isWhole, palette } = line;
  const limit = Math.min(text.length, at + MAX_SPAN);
  const middle = findClosing(text, bracket, limit, "[", "]");
  if (middle === undefined) return "open";
  if (middle + 1 >= limit) return isWhole ? undefined : "open";
  if (text[middle + 1] !== "(") return undefined;
  const close = findClosing(text, middle + 1, limit, "(", ")");
  if (close === undefined || close + 1 >= at + MAX_SPAN) return "open";
  const label = text.slice(bracket + 1, middle);
  const [address = "", title = ""] = text
    .slice(middle + 2, close)
    .trim()
    .split(/\s+(.*)/s, 2);
  // Something else than a title after the address: it is no link, and nothing of it may be left out.
  if (title !== "" && !/^["'(]/.test(title)) return undefined;
  const target = address === label || address === "" ? "" : palette.dim(` (${address})`);
  return { shown: palette.underline(renderInline(label, palette)) + target, end: close + 1 };
}

function findClosing(text: string, from: number, limit: number, open: string, close: string): number | undefined {
  let depth = 0;
  for (let at = from; at < limit; at += 1) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === open) depth += 1;
    else if (character === close) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return undefined;
}

function findSpecial(text: string, from: number): number {
  SPECIAL.lastIndex = from;
  const found = SPECIAL.exec(text);
  return found === null ? text.length : found.index;
}

function runEnd(text: string, from: number): number {
  const mark = text[from];
  let end = from + 1;
  if (mark === "[" || mark === "!" || mark === "\\") return end;
  while (text[end] === mark) end += 1;
  return end;
}

function isBlank(character: string | undefined): boolean {
  return character === undefined || character === " " || character === "\t";
}
