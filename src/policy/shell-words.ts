/** One simple command of a shell text: what stands between two separators. */
export interface ShellCommand {
  /** Its words without quotes, as the command would get them; what is expanded stands there as it was written. */
  readonly words: readonly string[];
  /** Per word: whether part of it is only known when the shell has expanded it (`$x`, `$(…)`, `*`, `{a,b}`). */
  readonly expands: readonly boolean[];
  /** It reads from or writes to a file. `2>&1` and `/dev/null` do not count. */
  readonly redirects: boolean;
}

export interface ShellReading {
  /** All of them, also those inside `$(…)`, backticks, brackets and double quotes. */
  readonly commands: readonly ShellCommand[];
  /** Nothing occurred that this reader cannot follow: an open quote, a comment, a here-document, `$'…'`. */
  readonly isPlain: boolean;
}

/** Deeper nesting is not followed. */
const DEEPEST = 24;

/**
 * Takes a shell text apart into its simple commands, the way a shell would, without expanding anything. One pass over
 * the text; never throws.
 */
export function readShell(text: string): ShellReading {
  return new ShellReader(text).read();
}

/** One level: the whole text, or the inside of a bracket or of backticks. */
interface Level {
  readonly closer: ")" | "`" | undefined;
  inDoubleQuotes: boolean;
  words: string[];
  expands: boolean[];
  word: string[] | undefined;
  wordExpands: boolean;
  redirects: boolean;
  /** The next word is where a redirection goes. */
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
        add(level, char);
        if ("*?[{".includes(char)) level.wordExpands = true;
    }
  }

  /** `$…` and backticks, which mean the same inside double quotes and outside. */
  private _readExpansion(level: Level, char: string): boolean {
    if (char === "`") {
      add(level, "");
      level.wordExpands = true;
      this._readBacktick();
      return true;
    }
    if (char !== "$") return false;
    const next = this._peek();
    add(level, char);
    if (next === "(") {
      this._next();
      level.wordExpands = true;
      this._open(")");
    } else if (next === "'" && !level.inDoubleQuotes) {
      this._isPlain = false;
      level.wordExpands = true;
    } else if (next !== "" && next !== " " && next !== '"') level.wordExpands = true;
    return true;
  }

  /** A backtick ends the innermost pair that is open, else it begins one. */
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
    // Digits right before it are a number of a file, not a word.
    if (level.word !== undefined && !level.wordExpands && isDigits(level.word.join(""))) level.word = undefined;
    this._endWord(level);
    const next = this._peek();
    if (next === "(") {
      this._next();
      this._open(")");
      return;
    }
    if (char === "<" && next === "<") this._isPlain = false;
    // No longer than an operator can be: what comes behind it may be a separator.
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
    if (level.isTarget) {
      level.redirects ||= level.wordExpands || !(word === "/dev/null" || isDigits(word) || word === "-");
      level.isTarget = false;
    } else {
      level.words.push(word);
      level.expands.push(level.wordExpands);
    }
    level.word = undefined;
    level.wordExpands = false;
  }

  private _endCommand(level: Level): void {
    this._endWord(level);
    const { words, expands } = level;
    const redirects = level.redirects || level.isTarget;
    if (words.length > 0 || redirects) this._commands.push({ words, expands, redirects });
    level.words = [];
    level.expands = [];
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
    word: undefined,
    wordExpands: false,
    redirects: false,
    isTarget: false,
  };
}

function add(level: Level, text: string): void {
  level.word ??= [];
  if (text !== "") level.word.push(text);
}

function isDigits(text: string): boolean {
  return /^[0-9]+$/.test(text);
}
