/** One entry of a git configuration file. Section and name are lower case; a subsection keeps its case. */
export interface GitConfigEntry {
  readonly section: string;
  readonly subsection: string | undefined;
  readonly name: string;
  readonly value: string;
}

// As git, and unlike `\s` and `.`: a carriage return alone is a blank, and may be escaped.
const HEADER = /\[\s*([A-Za-z0-9.-]+)(?:[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)")?\s*\]/y;
const NAME = /[A-Za-z][A-Za-z0-9-]*/y;
const BLANK = /[ \t\r]*/y;

/**
 * Reads a git configuration file (https://git-scm.com/docs/git-config#_syntax) as far as possible: what git would
 * refuse is skipped up to the end of its line.
 */
export function parseGitConfig(text: string): readonly GitConfigEntry[] {
  const reader = new ConfigReader(text.replace(/^\uFEFF/, ""));
  return reader.read();
}

class ConfigReader {
  private readonly _text: string;
  private _at = 0;
  private readonly _entries: GitConfigEntry[] = [];
  private _section: Pick<GitConfigEntry, "section" | "subsection"> | undefined;

  constructor(text: string) {
    this._text = text;
  }

  read(): readonly GitConfigEntry[] {
    while (this._at < this._text.length) {
      this._take(BLANK);
      const mark = this._text.charAt(this._at);
      if (mark === "\n") this._at += 1;
      else if (mark === "[" && this._readHeader()) continue;
      else if (!this._readEntry()) this._skipLine();
    }
    return this._entries;
  }

  private _readHeader(): boolean {
    const found = this._match(HEADER);
    if (found === undefined) return false;
    const [, name = "", quoted] = found;
    const dot = name.indexOf(".");
    const section = (dot === -1 ? name : name.slice(0, dot)).toLowerCase();
    // Both ways to write a subsection may be combined: `[a.b "c"]` has the subsection `b.c`.
    const parts = [
      ...(dot === -1 ? [] : [name.slice(dot + 1).toLowerCase()]),
      ...(quoted === undefined ? [] : [quoted.replace(/\\([^])/g, "$1")]),
    ];
    this._section = { section, subsection: parts.length === 0 ? undefined : parts.join(".") };
    return true;
  }

  private _readEntry(): boolean {
    const name = this._take(NAME).toLowerCase();
    if (name === "" || this._section === undefined) return false;
    this._take(BLANK);
    const hasValue = this._text.charAt(this._at) === "=";
    if (hasValue) this._at += 1;
    this._entries.push({ ...this._section, name, value: hasValue ? this._readValue() : "true" });
    return true;
  }

  /** Reads to the end of the line; quotes keep blanks and comment marks, a backslash at the end joins the next line. */
  private _readValue(): string {
    this._take(BLANK);
    const parts: string[] = [];
    let isQuoted = false;
    let kept = 0;
    for (; this._at < this._text.length; this._at += 1) {
      const mark = this._text.charAt(this._at);
      if (mark === "\n") break;
      if (!isQuoted && (mark === "#" || mark === ";")) {
        this._skipLine();
        break;
      }
      const isBlank = !isQuoted && /[ \t\r]/.test(mark);
      // A value may begin after the end of a line.
      if (isBlank && parts.length === 0) continue;
      if (mark === '"') isQuoted = !isQuoted;
      else if (mark === "\\") {
        this._at += 1;
        const next = this._text.charAt(this._at);
        if (next === "\r") this._at += 1;
        else if (next !== "\n") parts.push(ESCAPES[next] ?? next);
      } else parts.push(mark);
      if (!isBlank) kept = parts.length;
    }
    return parts.slice(0, kept).join("");
  }

  private _skipLine(): void {
    const end = this._text.indexOf("\n", this._at);
    this._at = end === -1 ? this._text.length : end;
  }

  private _take(pattern: RegExp): string {
    return this._match(pattern)?.[0] ?? "";
  }

  private _match(pattern: RegExp): RegExpExecArray | undefined {
    const own = new RegExp(pattern.source, "y");
    own.lastIndex = this._at;
    const found = own.exec(this._text) ?? undefined;
    this._at += found?.[0].length ?? 0;
    return found;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };
