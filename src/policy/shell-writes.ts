import { programName } from "./shell-names.ts";
import { isWritingSed } from "./shell-sed.ts";
import { isLongOption } from "./shell-unseen.ts";

/** How a program that normally prints can write a file, or take its instructions from a file. */
interface Writing {
  readonly name: RegExp;
  /** Matches any word that does so. */
  readonly word?: RegExp;
  /** Long options without the hyphens; any prefix of one counts as the option. */
  readonly long?: string;
  /** With more operands than this, the last one is the output file. */
  readonly operands?: number;
  /** Options whose value is the next word, which is then not an operand. */
  readonly values?: RegExp;
}

const WRITING: readonly Writing[] = [
  { name: /^(?:g?sort|g?shuf|sdiff|iconv|xmllint|g?base64|tree|gpg2?)$/, word: /^-[a-zA-Z]*o/, long: "output" },
  { name: /^g?uniq$/, operands: 1, values: /^-[fsw]$/ },
  { name: /^xxd$/, operands: 1, values: /^-(?:[cglos]|cols|groupsize|len|seek)$/ },
  {
    name: /^curl$/,
    // After flags without a value, as in `-sLo`.
    word: /^-[#0-46aBfgGiIjklLMnNpqRsSvZ]*[oODcKJ]|%output\{/,
    long: "output output-dir remote-name remote-name-all dump-header cookie-jar config trace trace-ascii stderr etag-save hsts alt-svc libcurl ssl-sessions",
  },
  {
    name: /^[gmn]?awk$/,
    word: /^-[ildopDEfW]/,
    long: "include load pretty-print profile dump-variables debug file exec",
  },
  { name: /^g?sed$/, word: /^-[nErsuz]*[iIf]/, long: "in-place file" },
  { name: /^git$/, long: "git-dir output-directory" },
  { name: /^(?:less|more)$/, word: /^-[a-zA-Z]*[oO]/, long: "log-file LOG-FILE" },
  { name: /^(?:vim?|nvim|ex|view|gvim)$/, word: /^-[wWi]/ },
  { name: /^openssl$/, word: /^-(?!noout$)(?:\w*out\w*|writerand|CAserial|CAcreateserial)$/ },
  { name: /^yq$/, word: /^-[a-zA-Z]*[is]/, long: "inplace in-place split-exp" },
  { name: /^tcpdump$/, word: /^-[a-zA-Z]*w/ },
  { name: /^sqlite3$/, word: /^--?init$|^\s*\.(?:output|once|backup|save|clone|log|excel|archive|ar)\b/m },
  { name: /^(?:kubectl|oc|helm)$/, long: "kubeconfig" },
];

/**
 * Whether an option makes a program that normally prints write a file, or follow instructions from one. Programs whose
 * purpose is to write (`cp`, `tee`, `tar`) are left out.
 */
export function writesByOption(words: readonly string[]): boolean {
  const name = programName(words[0] ?? "");
  const rest = words.slice(1);
  if (/^g?sed$/.test(name) && isWritingSed(rest)) return true;
  if (/^[gmn]?awk$/.test(name) && rest.some(isWritingAwk)) return true;
  // Only these subcommands write to the file after `-o`; for others the option means something else.
  if (
    name === "git" &&
    /^(?:archive|format-patch)$/.test(subcommandOf(rest)) &&
    rest.some((word) => word.startsWith("-o"))
  )
    return true;
  return WRITING.some((writing) => writing.name.test(name) && isWriting(rest, writing));
}

function isWriting(rest: readonly string[], { word, long, operands, values }: Writing): boolean {
  if (word !== undefined && rest.some((one) => word.test(one))) return true;
  if (long !== undefined && rest.some((one) => isLongOption(one, long.split(" ")))) return true;
  if (operands === undefined) return false;
  const given = rest.filter((one, at) => !/^-./.test(one) && values?.test(rest[at - 1] ?? "") !== true);
  return given.length > operands;
}

function subcommandOf(rest: readonly string[]): string {
  return rest.find((word, at) => !word.startsWith("-") && !/^-[cC]$/.test(rest[at - 1] ?? "")) ?? "";
}

/** `print a > "file"`. In a print statement, a comparison must be in parentheses. */
function isWritingAwk(program: string): boolean {
  for (const { index } of program.matchAll(/\bprintf?\b/g)) {
    if (isWritingStatement(program.slice(index))) return true;
  }
  return false;
}

function isWritingStatement(text: string): boolean {
  const [statement = ""] = /^[^;}\n]*/.exec(text) ?? [];
  // A regular expression may contain quotes that do not begin a string.
  if (statement.includes("/")) return statement.includes(">");
  let depth = 0;
  for (const piece of text.match(/"(?:\\.|[^"\\])*"|[^"]/gs) ?? []) {
    if (/^[;}\n]$/.test(piece)) return false;
    if (piece === "(") depth += 1;
    else if (piece === ")") depth -= 1;
    else if (piece === ">" && depth <= 0) return true;
  }
  return false;
}
