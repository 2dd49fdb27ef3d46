/** One simple command of a shell text: the words between two separators. */
export interface ShellCommand {
  /** Its words without quotes, as the command would receive them; expansions are kept as written. */
  readonly words: readonly string[];
  /** Per word: whether part of it is known only after expansion (`$x`, `$(…)`, `*`, `{a,b}`). */
  readonly expands: readonly boolean[];
  /** Per word: how many characters come before the first expansion. */
  readonly fixed: readonly number[];
  /** It reads from or writes to a file. `2>&1` and `/dev/null` do not count. */
  readonly redirects: boolean;
  /** The files it reads from or writes to, as written. */
  readonly targets: readonly string[];
}

export interface ShellReading {
  /** All commands, including those inside `$(…)`, backticks, brackets and double quotes. */
  readonly commands: readonly ShellCommand[];
  /**
   * `false` if the text contains something this reader cannot follow: an open quote, a comment, a here-document,
   * `$'…'`.
   */
  readonly isPlain: boolean;
}

/** How many characters are searched for the end of `{a,b}` and `[ab]`. */
const LONGEST_GROUP = 200;

/** Deeper nesting is not followed. */
const DEEPEST = 24;

/** In zsh, the inside of `*(e:'x':)` and `*(+f)`: a command decides which files the pattern matches. */
const RUNNING_QUALIFIER = /^[^()|]*(?:e[^\w\s|)]|\+\w)[^|]*$/;

/** A command that evaluates something that is not known. */
const EVALUATION: ShellCommand = {
  words: ["eval", "$"],
  expands: [false, true],
  fixed: [4, 0],
  redirects: false,
  targets: [],
};

/**
 * Splits a shell text into its simple commands as a shell would, without expanding anything. One pass; never throws.
 */
export function readShell(text: string): ShellReading {
  return new ShellReader(text).read();
}

/** One nesting level: the whole text, or the inside of brackets or backticks. */
interface Level {
  readonly closer: ")" | "`" | undefined;
  inDoubleQuotes: boolean;
  words: string[];
  expands: boolean[];
  fixed: number[];
  word: string[] | undefined;
  /** The length of the word at its first expansion; `undefined`: it has none so far. */
  opensAt: number | undefined;
  redirects: boolean;
  targets: string[];
  /** The next word is the target of a redirection. */
  isTarget: boolean;
}

class ShellReader {
  private readonly _text: string;
  private readonly _commands: ShellCommand[] = [];
  private readonly _levels: Level[] = [openLevel(undefined)];
  private _at = 0;
  private _isPlain = true;

  constructor(text: string) {
    this._text = text;
  }

  read(): ShellReading {
    while (this._at < this._text.length) {
      const level = this._level();
      if (level.inDoubleQuotes) this._readQuoted(level);
      else this._readBare(level);
    }
    if (this._levels.length > 1 || this._level().inDoubleQuotes) this._isPlain = false;
    while (this._levels.length > 0) this._endCommand(this._levels.pop() as Level);
    return { commands: this._commands, isPlain: this._isPlain };
  }

  private _level(): Level {
    return this._levels.at(-1) as Level;
  }

  private _readQuoted(level: Level): void {
    const char = this._next();
    if (char === '"') level.inDoubleQuotes = false;
    else if (char === "\\") {
      const escaped = this._next();
      if (escaped !== "\n") add(level, '$`"\\'.includes(escaped) ? escaped : `\\${escaped}`);
    } else if (!this._readExpansion(level, char)) add(level, char);
  }

  private _readBare(level: Level): void {
    const char = this._next();
    switch (char) {
      case " ":
      case "\t":
      case "\r":
        this._endWord(level);
        break;
      case "\n":
      case ";":
      case "|":
        this._endCommand(level);
        break;
      case "&":
        if (this._peek() === ">") break;
        this._endCommand(level);
        break;
      case "(":
        if (this._readAlternatives(level)) break;
        this._endCommand(level);
        this._open(")");
        break;
      case ")":
        this._endCommand(level);
        if (level.closer === ")") this._levels.pop();
        else this._isPlain = false;
        break;
      case "<":
      case ">":
        this._readRedirection(level, char);
        break;
      case "#":
        this._readHash(level);
        break;
      case "\\":
        this._readEscape(level);
        break;
      case "'":
        this._readSingleQuoted(level);
        break;
      case '"':
        add(level, "");
        level.inDoubleQuotes = true;
        break;
      default:
        if (this._readExpansion(level, char)) break;
        if (char === "*" || char === "?" || this._opensGroup(char)) expand(level);
        add(level, char);
    }
  }

  /** `{a,b}`, `{1..9}` and `[ab]`, but neither `{}` nor the command `[`. */
  private _opensGroup(char: string): boolean {
    const [end, inside] = char === "[" ? ["]", /./s] : char === "{" ? ["}", /,|\.\./] : [undefined, /./];
    if (end === undefined) return false;
    // An unclosed group is not a group. Quotes may hide the end, so in that case it counts as one.
    const rest = /^[^\s;&|]*/.exec(this._text.slice(this._at, this._at + LONGEST_GROUP))?.[0] ?? "";
    return rest !== "" && inside.test(rest) && (rest.includes(end) || /['"\\]/.test(rest));
  }

  /**
   * `@(a|b)`, `+(a)`, and in zsh `x(a|b)`: a pattern within a word, but neither `f()` nor `list=(a b)`. Not every shell
   * takes it for one, so its inside is read as commands, too.
   */
  private _readAlternatives(level: Level): boolean {
    const word = level.word?.join("") ?? "";
    if (word === "" || word.endsWith("=") || this._peek() === ")") return false;
    const group = endOfGroup(this._text.slice(this._at, this._at + LONGEST_GROUP));
    // The sign before the bracket belongs to the pattern.
    level.opensAt ??= /[?*+@!]$/.test(word) ? word.length - 1 : word.length;
    const inside = this._text.slice(this._at, this._at + group);
    this._at += group + 1;
    this._commands.push(...readShell(inside).commands);
    if (RUNNING_QUALIFIER.test(inside)) this._commands.push(EVALUATION);
    add(level, `(${inside})`);
    return true;
  }

  /** `$…` and backticks, which have the same meaning inside and outside double quotes. */
  private _readExpansion(level: Level, char: string): boolean {
    if (char === "`") {
      add(level, "");
      expand(level);
      this._readBacktick();
      return true;
    }
    if (char !== "$") return false;
    const next = this._peek();
    if (next === "'" && !level.inDoubleQuotes) {
      this._next();
      this._readAnsiQuoted(level);
      return true;
    }
    if (next === "(") {
      expand(level);
      add(level, char);
      this._next();
      this._open(")");
      return true;
    }
    // `$"…"` is translated where a translation exists; otherwise it is the same as `"…"`.
    if (next === '"' && !level.inDoubleQuotes) return true;
    if (next !== "" && next !== " " && next !== '"') expand(level);
    add(level, char);
    return true;
  }

  /** `$'…'` with C escapes. It is rare, so rules that allow do not follow it. */
  private _readAnsiQuoted(level: Level): void {
    this._isPlain = false;
    const start = this._at;
    while (this._at < this._text.length && this._peek() !== "'") this._at += this._peek() === "\\" ? 2 : 1;
    add(level, decodeAnsi(this._text.slice(start, this._at)));
    this._at += 1;
  }

  /** A backtick closes the innermost open pair; if there is none, it opens one. */
  private _readBacktick(): void {
    const open = this._levels.findLastIndex((level) => level.closer === "`");
    if (open === -1) {
      this._open("`");
      return;
    }
    if (open < this._levels.length - 1 || this._level().inDoubleQuotes) this._isPlain = false;
    while (this._levels.length > open) this._endCommand(this._levels.pop() as Level);
  }

  private _readRedirection(level: Level, char: string): void {
    // Digits directly before it are a file descriptor, not a word.
    if (level.word !== undefined && level.opensAt === undefined && isDigits(level.word.join("")))
      level.word = undefined;
    this._endWord(level);
    const next = this._peek();
    if (next === "(") {
      this._next();
      // The command receives a file name that is not known yet.
      expand(level);
      add(level, "");
      this._endWord(level);
      this._open(")");
      return;
    }
    if (char === "<" && next === "<") this._isPlain = false;
    // At most as long as an operator can be: the next character may be a separator.
    for (let more = 0; more < 2 && (this._peek() === "<" || this._peek() === ">"); more += 1) this._next();
    if (this._peek() === "&" || this._peek() === "|") this._next();
    level.isTarget = true;
  }

  private _readHash(level: Level): void {
    if (level.word !== undefined) {
      add(level, "#");
      return;
    }
    this._isPlain = false;
    const end = this._text.indexOf("\n", this._at);
    this._at = end === -1 ? this._text.length : end;
  }

  private _readEscape(level: Level): void {
    const escaped = this._next();
    if (escaped !== "\n") add(level, escaped);
  }

  private _readSingleQuoted(level: Level): void {
    const end = this._text.indexOf("'", this._at);
    if (end === -1) this._isPlain = false;
    const stop = end === -1 ? this._text.length : end;
    add(level, this._text.slice(this._at, stop));
    this._at = stop + 1;
  }

  private _open(closer: ")" | "`"): void {
    if (this._levels.length < DEEPEST) this._levels.push(openLevel(closer));
    else this._isPlain = false;
  }

  private _endWord(level: Level): void {
    if (level.word === undefined) return;
    const word = level.word.join("");
    const isExpanded = level.opensAt !== undefined;
    if (level.isTarget) {
      level.redirects ||= isExpanded || !(word === "/dev/null" || isDigits(word) || word === "-");
      level.targets.push(word);
      level.isTarget = false;
    } else {
      level.words.push(word);
      level.expands.push(isExpanded);
      level.fixed.push(level.opensAt ?? word.length);
    }
    level.word = undefined;
    level.opensAt = undefined;
  }

  private _endCommand(level: Level): void {
    this._endWord(level);
    const { words, expands, fixed, targets } = level;
    const redirects = level.redirects || level.isTarget;
    if (words.length > 0 || redirects) this._commands.push({ words, expands, fixed, redirects, targets });
    level.words = [];
    level.expands = [];
    level.fixed = [];
    level.targets = [];
    level.redirects = false;
    level.isTarget = false;
  }

  private _next(): string {
    const char = this._text[this._at] ?? "";
    this._at += 1;
    return char;
  }

  private _peek(): string {
    return this._text[this._at] ?? "";
  }
}

function openLevel(closer: Level["closer"]): Level {
  return {
    closer,
    inDoubleQuotes: false,
    words: [],
    expands: [],
    fixed: [],
    word: undefined,
    opensAt: undefined,
    redirects: false,
    targets: [],
    isTarget: false,
  };
}

function add(level: Level, text: string): void {
  level.word ??= [];
  if (text !== "") level.word.push(text);
}

/** From here on, the word is known only after expansion. */
/** Where the bracket that was opened before this text is closed; the end of the text if it is not. */
function endOfGroup(text: string): number {
  let depth = 1;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    if (text[at] === ")") depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}

function expand(level: Level): void {
  level.opensAt ??= (level.word ?? []).reduce((length, part) => length + part.length, 0);
}

const ANSI_ESCAPE = /\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c?(.?))/gsu;
const ANSI_LETTERS: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", e: "\u001b", E: "\u001b" };

function decodeAnsi(text: string): string {
  return text.replace(ANSI_ESCAPE, (_, hex, short, long, octal, letter) => {
    const digits: string | undefined = hex ?? short ?? long;
    if (digits === undefined && octal === undefined) return ANSI_LETTERS[letter as string] ?? (letter as string);
    const code = digits === undefined ? Number.parseInt(octal, 8) : Number.parseInt(digits, 16);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : "";
  });
}

function isDigits(text: string): boolean {
  return /^[0-9]+$/.test(text);
}
