import type { Palette } from "../palette.ts";
import { findLanguage, type Language } from "./languages.ts";

/** Colours the lines of one code block, in order. The text of a line stays unchanged. */
export type Highlight = (line: string) => string;

/**
 * Colours comments, strings, numbers and keywords. With an unknown language, or a palette without colours, code stays
 * as it is. Linear in the line.
 *
 * @example
 * createHighlight("ts", palette)('const a = "b" // c')
 */
export function createHighlight(name: string, palette: Palette): Highlight {
  if (/^diff$|^patch$/i.test(name.trim())) return (line) => paintDiff(line, palette);
  const language = findLanguage(name);
  if (language === undefined) return (line) => line;
  let open: Language["blocks"][number] | undefined;
  return (line) => {
    const reader = new LineReader(line, language, palette, open);
    const shown = reader.read();
    open = reader.open;
    return shown;
  };
}

const WORD = /[\p{L}_$@][\p{L}\p{N}_$-]*/uy;
const NUMBER = /(?:0[xXbBoO])?\d[\da-fA-F_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\w?/y;

class LineReader {
  /** The comment or string that continues in the next line. */
  open: Language["blocks"][number] | undefined;
  private readonly _line: string;
  private readonly _language: Language;
  private readonly _palette: Palette;
  private _at = 0;

  constructor(line: string, language: Language, palette: Palette, open: LineReader["open"]) {
    this._line = line;
    this._language = language;
    this._palette = palette;
    this.open = open;
  }

  read(): string {
    let shown = this.open === undefined ? "" : this._block(this.open, 0);
    while (this._at < this._line.length) shown += this._piece();
    return shown;
  }

  private _piece(): string {
    const { _line: line, _at: at, _language: language } = this;
    const block = language.blocks.find(({ open }) => line.startsWith(open, at));
    if (block !== undefined) return this._block(block, block.open.length);
    const character = line[at] ?? "";
    if (language.comments.some((mark) => line.startsWith(mark, at)) && this._mayBeComment(at)) {
      return this._palette.dim(this._take(line.length));
    }
    if (language.quotes.includes(character)) return this._string(character);
    return this._word() ?? this._number() ?? this._take(at + 1);
  }

  /** A `#` inside a word (`$#`, `a#b`) starts no comment. */
  private _mayBeComment(at: number): boolean {
    return this._line[at] !== "#" || at === 0 || /[\s;({[]/.test(this._line[at - 1] ?? "");
  }

  private _block(block: Language["blocks"][number], skip: number): string {
    const close = this._line.indexOf(block.close, this._at + skip);
    this.open = close === -1 ? block : undefined;
    const text = this._take(close === -1 ? this._line.length : close + block.close.length);
    return block.is === "comment" ? this._palette.dim(text) : this._palette.green(text);
  }

  private _string(quote: string): string {
    const { _line: line } = this;
    let end = this._at + 1;
    while (end < line.length && line[end] !== quote) end += line[end] === "\\" ? 2 : 1;
    // A quote without its other half is an apostrophe, or the string continues: it colours nothing.
    if (end >= line.length) return this._take(this._at + 1);
    const text = this._take(end + 1);
    const isKey = this._language.hasKeys === true && /^\s*:/.test(line.slice(this._at, this._at + 20));
    return isKey ? this._palette.cyan(text) : this._palette.green(text);
  }

  private _word(): string | undefined {
    WORD.lastIndex = this._at;
    const word = WORD.exec(this._line)?.[0];
    if (word === undefined) return undefined;
    this._at += word.length;
    const known = this._language.ignoresCase === true ? word.toLowerCase() : word;
    return this._language.words.has(known) ? this._palette.magenta(word) : word;
  }

  private _number(): string | undefined {
    NUMBER.lastIndex = this._at;
    const number = NUMBER.exec(this._line)?.[0];
    if (number === undefined) return undefined;
    this._at += number.length;
    return this._palette.yellow(number);
  }

  private _take(end: number): string {
    const text = this._line.slice(this._at, end);
    this._at = end;
    return text;
  }
}

function paintDiff(line: string, { green, red, cyan, dim }: Palette): string {
  if (/^(?:\+\+\+|---|diff |index )/.test(line)) return dim(line);
  if (line.startsWith("@@")) return cyan(line);
  if (line.startsWith("+")) return green(line);
  return line.startsWith("-") ? red(line) : line;
}
