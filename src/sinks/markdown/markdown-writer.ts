import { checkOptionNames } from "#domain";
import { type Palette, createPalette } from "../palette.ts";
import { createHighlight, type Highlight } from "./highlight.ts";
import { MAX_SPAN, readInline, renderInline } from "./inline.ts";
import { type LineKind, readLineKind } from "./line-kind.ts";
import { MAX_TABLE, renderTable } from "./table.ts";

/** The options of `createMarkdownWriter`. */
export interface MarkdownOptions {
  readonly color: boolean;
  /** Columns of the terminal; a function if they can change. */
  readonly width: number | (() => number);
}

/** Renders Markdown incrementally. */
export interface MarkdownWriter {
  /** Returns what can be shown now. Output is only appended, never changed. */
  push(text: string): string;
  /** The text is over: returns the rest. The writer can be used again afterwards. */
  end(): string;
}

/** The depth up to which nested quotes are drawn. */
const MAX_QUOTES = 8;

/** The state of the current line: undecided, streamed, streamed verbatim, or shown when it is complete. */
type Mode = "start" | "inline" | "verbatim" | "heading" | "table" | "fence" | "code";

/**
 * Creates a writer of Markdown for a terminal. Its output is only appended to, so that it can be piped and recorded,
 * and looks the same on every terminal. Text appears as it arrives; held back are the beginning of a line, an emphasis,
 * a link or inline code until it ends, a heading or a line of a code block until the line ends, and a table until it is
 * complete. Each of these is bounded, and what exceeds its bound is shown as it is written. Linear in the text.
 *
 * The text must be safe already: see `plainText`.
 *
 * @example
 * const writer = createMarkdownWriter({ color: true, width: 80 })
 * process.stdout.write(writer.push(plainText("**Bold** and `code`")) + writer.end())
 */
export function createMarkdownWriter(options: MarkdownOptions): MarkdownWriter {
  checkOptionNames(options, ["color", "width"] satisfies (keyof MarkdownOptions)[], "createMarkdownWriter");
  const { width } = options;
  const writer = new Writer(createPalette(options.color), typeof width === "number" ? () => width : width);
  return { push: (text) => writer.push(text), end: () => writer.end() };
}

class Writer {
  private readonly _palette: Palette;
  private readonly _width: () => number;
  private _mode: Mode = "start";
  /** The part of the line that is held back. */
  private _held = "";
  /** The character before the held part. */
  private _before = "";
  /** The fence that ends the current code block. */
  private _fence: string | undefined;
  private _highlight: Highlight = asWritten;
  private _quotes = 0;
  private _table: string[] = [];
  private _tableSize = 0;

  constructor(palette: Palette, width: () => number) {
    this._palette = palette;
    this._width = width;
  }

  push(text: string): string {
    let shown = "";
    let at = 0;
    while (at < text.length) {
      const end = text.indexOf("\n", at);
      shown += this._add(text.slice(at, end === -1 ? text.length : end));
      if (end === -1) break;
      shown += this._endLine("\n");
      at = end + 1;
    }
    return shown;
  }

  end(): string {
    const isMidLine = this._mode !== "start" || this._held !== "";
    let shown = isMidLine ? this._endLine("") : "";
    shown += this._endTable(shown === "" && !isMidLine ? "\n" : "");
    this._fence = undefined;
    return shown;
  }

  private _add(piece: string): string {
    if (piece === "") return "";
    switch (this._mode) {
      case "start":
        this._held += piece;
        return this._begin(false);
      case "inline":
        return this._inline(piece, false);
      case "verbatim":
        return piece;
      case "heading":
      case "fence":
      case "code":
      case "table":
        this._held += piece;
        return this._keepWhole();
    }
  }

  /** Decides what the line is, once its beginning is unambiguous. */
  private _begin(isWhole: boolean): string {
    if (this._fence !== undefined) return this._beginCode(isWhole);
    const line = this._readKind(isWhole);
    if (line === undefined) return "";
    if (line.kind === "table") {
      this._mode = "table";
      return this._keepWhole();
    }
    return this._endTable("\n") + this._beginLine(line, isWhole);
  }

  private _readKind(isWhole: boolean): LineKind | undefined {
    const line = readLineKind(this._held, isWhole);
    if (line?.kind !== "quote") return line;
    this._quotes += 1;
    return this._quotes > MAX_QUOTES ? { kind: "text", prefix: "", rest: this._held } : line;
  }

  private _beginLine(line: Exclude<LineKind, { readonly kind: "table" }>, isWhole: boolean): string {
    switch (line.kind) {
      case "quote":
        this._held = line.rest;
        return this._palette.dim("│ ") + this._begin(isWhole);
      case "heading":
        this._held = line.rest;
        this._mode = "heading";
        return this._keepWhole();
      case "fence":
        this._mode = "fence";
        return this._keepWhole();
      case "rule":
        this._held = "";
        this._mode = "verbatim";
        return this._palette.dim("─".repeat(Math.min(this._width(), 40)));
      case "text":
        this._held = "";
        this._mode = "inline";
        this._before = "";
        return line.prefix + this._inline(line.rest, false);
    }
  }

  private _beginCode(isWhole: boolean): string {
    // Only marks so far: the block may end here.
    if (!isWhole && this._held.length <= MAX_SPAN && /^ {0,3}[`~]*[ \t]*$/.test(this._held)) return "";
    const marks = this._held.trim();
    const isEnd = marks.startsWith(this._fence ?? "") && marks === (marks[0] ?? "").repeat(marks.length);
    if (!isEnd) {
      this._mode = "code";
      return this._keepWhole();
    }
    const text = this._held;
    this._held = "";
    this._mode = "verbatim";
    this._fence = undefined;
    return this._palette.dim(text);
  }

  private _endLine(end: string): string {
    const shown = (this._mode === "start" ? this._begin(true) : "") + this._finishMode(end);
    this._mode = "start";
    this._held = "";
    this._quotes = 0;
    return shown;
  }

  private _finishMode(end: string): string {
    const text = this._held;
    switch (this._mode) {
      case "start":
      case "verbatim":
        return end;
      case "inline":
        return this._inline("", true) + end;
      case "heading":
        return this._palette.bold(renderInline(text.trim(), { ...this._palette, bold: (inner) => inner })) + end;
      case "fence":
        this._fence = /^[`~]+/.exec(text.trimStart())?.[0];
        this._highlight = createHighlight(text.trimStart().replace(/^[`~]+/, ""), this._palette);
        return this._palette.dim(text) + end;
      case "code":
        return this._highlight(text) + end;
      case "table":
        this._table.push(text);
        this._tableSize += text.length;
        // A table that has become too large is shown as far as it goes.
        return this._tableSize > MAX_TABLE ? this._endTable(end) : "";
    }
  }

  private _endTable(end: string): string {
    if (this._table.length === 0) return "";
    const lines = renderTable(this._table, this._width(), this._palette);
    this._table = [];
    this._tableSize = 0;
    return lines.join("\n") + end;
  }

  private _inline(piece: string, isWhole: boolean): string {
    const text = this._held + piece;
    const { shown, rest } = readInline({ text, isWhole, before: this._before, palette: this._palette });
    const taken = text.length - rest.length;
    if (taken > 0) this._before = text[taken - 1] ?? "";
    this._held = rest;
    return shown;
  }

  /** Holds a line back until it is complete, unless it is too long. */
  private _keepWhole(): string {
    if (this._held.length <= (this._mode === "table" ? MAX_TABLE : MAX_SPAN)) return "";
    const before = this._endTable("\n");
    const text = this._held;
    const isCode = this._mode === "code";
    this._held = "";
    this._mode = isCode ? "verbatim" : "inline";
    this._before = "";
    return isCode ? text : before + this._inline(text, false);
  }
}

const asWritten: Highlight = (line) => line;
