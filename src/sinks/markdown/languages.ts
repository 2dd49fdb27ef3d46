/** The syntax of a language, as far as it is coloured. */
export interface Language {
  /** What starts a comment to the end of the line. */
  readonly comments: readonly string[];
  /** The start and end of comments and strings that may span several lines. */
  readonly blocks: readonly { readonly open: string; readonly close: string; readonly is: "comment" | "string" }[];
  /** The quotes of a string within one line. */
  readonly quotes: string;
  readonly words: ReadonlySet<string>;
  /** Keywords are case-insensitive. */
  readonly ignoresCase?: boolean;
  /** A string before a colon is a key. */
  readonly hasKeys?: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const SLASHES = { open: "/*", close: "*/", is: "comment" } as const;
const BRACES: Language = {
  comments: ["//"],
  blocks: [SLASHES],
  quotes: "\"'",
  words: words(
    "abstract any as async await bool boolean break byte case catch char class const continue debugger default defer delete do double else enum export " +
      "extends extern false final finally float fn for foreach from func function get go goto guard if impl implements import in instanceof int " +
      "interface internal is let long loop map match mod move mut namespace native new nil null number object of operator override package private " +
      "protected protocol pub public range readonly ref return satisfies sealed select self set short signed sizeof static str string struct super " +
      "switch this throw throws trait true try type typeof undefined union unknown unsafe unsigned use using val var void volatile when where while with yield",
  ),
};
/** In Rust, a single quote is more often a lifetime than a character. */
const RUST: Language = { ...BRACES, quotes: '"' };
const SCRIPT: Language = { ...BRACES, blocks: [SLASHES, { open: "`", close: "`", is: "string" }] };
const HASHES: Language = {
  comments: ["#"],
  blocks: [],
  quotes: "\"'",
  words: words(
    "and begin break case def do done elif else elsif end ensure esac exit export fi for function if in local module next nil not or " +
      "puts redo require rescue retry return self set shift source sub then trap true false unless until unset use when while yield null yes no",
  ),
};
const PYTHON: Language = {
  ...HASHES,
  blocks: [
    { open: '"""', close: '"""', is: "string" },
    { open: "'''", close: "'''", is: "string" },
  ],
  words: words(
    "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match " +
      "None nonlocal not or pass raise return self True try while with yield",
  ),
};
const SQL: Language = {
  comments: ["--"],
  blocks: [SLASHES],
  quotes: "\"'",
  ignoresCase: true,
  words: words(
    "add all alter and any as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end exists " +
      "foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references " +
      "returning right rollback select set table then transaction union unique update using values view when where with",
  ),
};
const LUA: Language = { ...HASHES, comments: ["--"] };
const JSON_LIKE: Language = { ...BRACES, words: words("true false null"), hasKeys: true };
const YAML: Language = { ...HASHES, words: words("true false null yes no on off") };
const MARKUP: Language = {
  comments: [],
  blocks: [{ open: "<!--", close: "-->", is: "comment" }],
  quotes: '"',
  words: new Set(),
};
const STYLES: Language = { ...BRACES, comments: [], words: words("important inherit initial none auto unset") };

const NAMES: readonly (readonly [Language, string])[] = [
  [SCRIPT, "js jsx mjs cjs ts tsx mts cts javascript typescript node go golang"],
  [
    BRACES,
    "c h cc cpp c++ cxx hpp cs csharp c# java kotlin kt scala swift dart php groovy zig proto protobuf solidity",
  ],
  [RUST, "rust rs"],
  [
    HASHES,
    "sh bash zsh fish shell console terminal ruby rb perl pl r make makefile docker dockerfile elixir ex julia jl powershell ps1 nginx",
  ],
  [PYTHON, "py python python3"],
  [SQL, "sql postgres postgresql mysql sqlite plsql"],
  [LUA, "lua haskell hs"],
  [JSON_LIKE, "json jsonc json5 jsonl ndjson"],
  [YAML, "yaml yml toml ini conf properties"],
  [MARKUP, "html xml svg vue svelte"],
  [STYLES, "css scss less"],
];

const LANGUAGES: ReadonlyMap<string, Language> = new Map(
  NAMES.flatMap(([language, names]) => names.split(" ").map((name) => [name, language] as const)),
);

/** The language of a fence (`js`, `Python`, `ts title="x"`); `undefined` if unknown. */
export function findLanguage(name: string): Language | undefined {
  return LANGUAGES.get(/^[\w+#-]+/.exec(name.trim())?.[0].toLowerCase() ?? "");
}
