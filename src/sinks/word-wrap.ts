import { displayWidth } from "./display-width.ts";

/** Inserts line ends between words where a terminal would otherwise split a word. */
export interface WordWrap {
  /**
   * Returns what can be shown now. Near the edge a word is held back until it is complete; the output does not depend
   * on how the text is cut.
   */
  push(text: string): string;
  /** The text is over: returns the held word. The filter can be used again afterwards. */
  end(): string;
  /** Part of the current line is held back. */
  readonly isHolding: boolean;
}

/** A word that begins further from the edge than this is shown letter by letter, and never moved. */
const EDGE = 40;
/** How much of a line is kept to see what it is: a list, a quote, a fence, a row of a table. */
const MAX_HEAD = 80;
/** A longer word is measured in pieces: measuring it again with each letter would take quadratic time. */
const MAX_WORD = 256;
const TAB = 8;

/** Our own colour codes, which have no width; line ends, tabs, and characters with their marks. */
const PIECES = /\u001b\[[\d;]*m|\n|\t|.(?:\p{M}|\u200d|\ufe0e|\ufe0f)*/gsu;
/** Scripts without blanks: a line may end after every character, but not before these marks. */
const UNSPACED = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u;
const CLOSING = /^[、。，．！？；：）」』】》〉”’]/u;
const MARKS = /^(?:[ \t]|│ |> |• |☐ |☑ |[-*+] |\d{1,9}[.)] )*/u;
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/u;

/**
 * Creates a filter that wraps at words. `columns` is called for every word, because a terminal can be resized.
 * Continuation lines of a list or a quote are indented to its text. Code between fences and rows of tables keep their
 * lines, so that they can be copied; colours pass.
 */
export function createWordWrap(columns: () => number): WordWrap {
  const wrap = new Wrap(columns);
  return {
    push: (text) => wrap.push(text),
    end: () => wrap.end(),
    get isHolding() {
      return wrap.isHolding;
    },
  };
}

/**
 * Folds one line of text into several that fit after an indent. All but the first begin with it; the caller indents the
 * first.
 *
 * @example
 * process.stdout.write(`- ${foldLine("A long item of a list that needs a second line", 30, 2)}\n`)
 */
export function foldLine(text: string, columns: number, indent: number): string {
  const wrap = new Wrap(() => Math.max(10, columns - indent), true);
  return (wrap.push(text) + wrap.end()).replaceAll("\n", `\n${" ".repeat(indent)}`);
}

class Wrap {
  private readonly _columns: () => number;
  /** All of the text is there, so no word has to be shown before its end is known. */
  private readonly _isWhole: boolean;
  /** The column of the next character; for a word that is already shown, where it began. */
  private _column = 0;
  private _head = "";
  private _fence: string | undefined;
  /** Blanks before the next word, with the colours among them. */
  private _gap = "";
  private _gapWidth = 0;
  /** The held part of the current word, with its colours. */
  private _held = "";
  /** The current word without colours, shown or not. */
  private _word = "";
  private _isShown = false;

  constructor(columns: () => number, isWhole = false) {
    this._columns = columns;
    this._isWhole = isWhole;
  }

  get isHolding(): boolean {
    return this._held !== "" || this._gapWidth > 0;
  }

  push(text: string): string {
    let shown = "";
    for (const [piece] of text.matchAll(PIECES)) {
      if (piece[0] === "\u001b") shown += this._takeColor(piece);
      else if (piece === "\n") shown += this._endLine();
      else shown += this._take(piece);
    }
    return shown;
  }

  end(): string {
    const shown = this._endWord() + this._gap;
    this._column = 0;
    this._gap = "";
    this._gapWidth = 0;
    this._head = "";
    this._fence = undefined;
    return shown;
  }

  private _takeColor(code: string): string {
    if (this._word !== "" && this._isShown) return code;
    if (this._word !== "") this._held += code;
    else if (this._gapWidth > 0) this._gap += code;
    else return code;
    return "";
  }

  private _take(piece: string): string {
    if (this._head.length < MAX_HEAD) this._head += piece;
    if (piece === " " || piece === "\t") {
      const shown = this._endWord();
      this._gap += piece;
      const at = this._column + this._gapWidth;
      this._gapWidth += piece === "\t" ? TAB - (at % TAB) : 1;
      return shown;
    }
    const isUnspaced = UNSPACED.test(piece);
    const begins = this._word !== "" && !CLOSING.test(piece) && (isUnspaced || UNSPACED.test(this._word));
    let shown = begins || this._word.length > MAX_WORD ? this._endWord() : "";
    this._word += piece;
    if (this._isShown) return shown + piece;
    this._held += piece;
    shown += this._decide();
    return shown;
  }

  /** Shows the word, moves it to the next line, or waits for its rest. */
  private _decide(): string {
    const columns = this._columns();
    const start = this._column + this._gapWidth;
    // A word that begins its line stays there, however long it is.
    const isEarly = this._isWhole
      ? start <= displayWidth(this._indent(columns))
      : start < columns - Math.min(EDGE, Math.floor(columns / 2));
    if (isEarly || this._isVerbatim()) return this._show();
    if (start + displayWidth(this._word) <= columns) return "";
    const indent = this._indent(columns);
    const codes = this._gap.replace(/[ \t]/g, "");
    this._gap = "";
    this._gapWidth = 0;
    this._column = displayWidth(indent);
    return `${codes}\n${indent}${this._show()}`;
  }

  private _show(): string {
    const shown = this._gap + this._held;
    this._column += this._gapWidth;
    this._gap = "";
    this._gapWidth = 0;
    this._held = "";
    this._isShown = true;
    return shown;
  }

  private _endWord(): string {
    if (this._word === "") return "";
    const shown = this._isShown ? "" : this._show();
    const columns = this._columns();
    this._column += displayWidth(this._word);
    // The terminal has wrapped a word that is longer than a line.
    if (this._column > columns) this._column = this._isWhole ? columns : ((this._column - 1) % columns) + 1;
    this._word = "";
    this._isShown = false;
    return shown;
  }

  private _endLine(): string {
    const shown = `${this._endWord()}${this._gap}\n`;
    const found = FENCE.exec(this._bareHead());
    if (found !== null) {
      const [, mark = "", rest = ""] = found;
      if (this._fence === undefined) this._fence = mark;
      else if (mark.startsWith(this._fence) && rest.trim() === "") this._fence = undefined;
    }
    this._head = "";
    this._gap = "";
    this._gapWidth = 0;
    this._column = 0;
    return shown;
  }

  private _isVerbatim(): boolean {
    return this._fence !== undefined || this._bareHead().startsWith("|");
  }

  /** The beginning of the line without the marks of quotes. */
  private _bareHead(): string {
    return this._head.replace(/^(?:│ |> ?)+/u, "");
  }

  /** The beginning of the next line, which aligns it with this one's text. */
  private _indent(columns: number): string {
    const marks = MARKS.exec(this._head)?.[0] ?? "";
    const indent = marks.replace(/[^│>\t]/gu, " ");
    return displayWidth(indent) <= columns / 3 ? indent : "";
  }
}
