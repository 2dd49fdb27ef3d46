import { isShell, programName } from "./shell-names.ts";

/** The program and what it is given. */
interface Given {
  readonly words: readonly string[];
  /** Per word: nobody but the shell knows it. */
  readonly expands: readonly boolean[];
}

/** How each language is given a program in its arguments. */
const INLINE: readonly (readonly [name: RegExp, option: RegExp])[] = [
  [/^python[\d.]*$|^pypy[\d.]*$/, /^-[A-Za-z]*c/],
  [/^perl[\d.]*$/, /^-[A-Za-z0-9]*[eE]/],
  [/^ruby[\d.]*$/, /^-[A-Za-z]*e/],
  [/^(?:node|nodejs|bun|tsx)$/, /^(?:-[a-z]*[ep]|--eval|--print)(?:=|$)/],
  [/^deno$/, /^eval$/],
  [/^php[\d.]*$/, /^-[rRBE]/],
  [/^(?:lua[\d.]*|luajit|julia|osascript|elixir|Rscript|guile|racket|ghc|scala|groovy)$/, /^-e|^--eval/],
  [/^(?:pwsh|powershell)$/i, /^-(?:c|enc)/i],
  [/^(?:tclsh|wish|expect)[\d.]*$/, /^-c/],
];

/** Options that make a program run a command. */
const RUNNING: readonly (readonly [name: RegExp, option: RegExp])[] = [
  [
    /^g?tar$|^bsdtar$/,
    /^(?:--to-command|--checkpoint-action|--use-compress-program|--info-script|--new-volume-script|--rsh-command|-I|-F)/,
  ],
  [/^rsync$/, /^(?:-[a-zA-Z]*e$|--rsh|--rsync-path)/],
  [/^(?:vim?|nvim|ex|view|gvim|emacs|ed)$/, /^(?:-c|--cmd|\+|-S|-s|--eval|-f|-l)/],
  [/^man$/, /^(?:-P|--pager|-H|--html)/],
  [/^g?make$/, /^(?:SHELL=|--eval|-E)/],
  [/^split$/, /^--filter/],
  [/^sort$/, /^--compress-program/],
  [/^(?:sqlite3|psql|mysql|mariadb)$/, /^\.(?:shell|system|sh)\b|\\!/],
  [/^(?:gdb|lldb)$/, /^(?:-ex|--eval-command|-o|--one-line|-x|--command|-s|--source)/],
  [/^socat$|^ncat?$/, /^(?:EXEC:|SYSTEM:|-e$|-c$|--exec|--sh-exec)/i],
  [/^crontab$|^at$|^batch$/, /^/],
  [/^(?:enable)$/, /^-f/],
];

/** Variables whose value is loaded or run by the next program. */
const LOADED = /^(?:BASH_ENV|ENV|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|PROMPT_COMMAND|PS[0-4]|BASH_FUNC_.*)$/;

/**
 * Whether a command runs something that its words do not show as a command: a program text in an argument or on its
 * input, a shell without a file, an option that names what to run. What that is cannot be read here.
 */
export function runsUnseen({ words, expands }: Given, start: number): boolean {
  const name = programName(words[start] ?? "");
  const rest = words.slice(start + 1);
  const unknown = expands.slice(start + 1);
  if (isShell(name)) return isUnseenShell(rest, unknown);
  if (name === "source" || name === ".") return isUnseenFile(rest[0], unknown[0]);
  if (name === "eval") return unknown.includes(true);
  if (name === "parallel" || name === "rush") return !rest.some((word) => !word.startsWith("-"));
  if (name === "find" || name === "gfind") return rest.includes("-delete");
  if (name === "git") return isUnseenGit(rest, unknown);
  if (/^[gmn]?awk$/.test(name)) return rest.some(isRunningAwk);
  if (/^g?sed$/.test(name)) return rest.some(isRunningSed);
  if (/^g?make$/.test(name) && isUnseenMakefile(rest, unknown)) return true;
  if (RUNNING.some(([names, option]) => names.test(name) && rest.some((word) => option.test(word)))) return true;
  return isUnseenProgram(name, rest, unknown);
}

/** Whether an assignment makes the next program load or run something. */
export function loadsSomething(assignment: string): boolean {
  const [name = ""] = assignment.split("=", 1);
  return LOADED.test(name) && assignment.length > name.length + 1;
}

/** The value of an assignment that a program takes for a command, such as a pager. */
export function commandInAssignment(assignment: string): string | undefined {
  const [name = ""] = assignment.split("=", 1);
  return /(?:PAGER|EDITOR|VISUAL|BROWSER|_COMMAND|_CMD|SHELL|ASKPASS|LESSOPEN|LESSCLOSE|_DIFF|_SSH)$/.test(name)
    ? assignment.slice(name.length + 1)
    : undefined;
}

/** A shell that is given its text (`-c`) is read elsewhere; one that is given a file runs that file. */
function isUnseenShell(rest: readonly string[], unknown: readonly boolean[]): boolean {
  const inline = rest.findIndex((word) => /^-[A-Za-z]*c$/.test(word));
  if (inline !== -1) return unknown[inline + 1] !== false;
  if (rest.length > 0 && rest.every((word) => /^--(?:version|help)$/.test(word))) return false;
  const file = rest.findIndex((word) => !/^[-+]/.test(word));
  const readsInput = rest.some((word) => /^-[A-Za-z]*s$/.test(word));
  return readsInput || isUnseenFile(rest[file], unknown[file]);
}

/** No file, or one that nobody can name. */
function isUnseenFile(file: string | undefined, isUnknown: boolean | undefined): boolean {
  return file === undefined || isUnknown === true || file === "-" || /^\/(?:dev|proc)\//.test(file);
}

/** A language that is given a program text, or reads it from its input. */
function isUnseenProgram(name: string, rest: readonly string[], unknown: readonly boolean[]): boolean {
  const language = INLINE.find(([names]) => names.test(name));
  if (language === undefined) return false;
  if (rest.some((word) => language[1].test(word))) return true;
  if (rest.some((word) => /^(?:-V|-v|-h|-m|--version|--help|--test|--check|-l)$/.test(word))) return false;
  const file = rest.findIndex((word) => !word.startsWith("-") || word === "-");
  return isUnseenFile(rest[file], unknown[file]);
}

const GIT_KEY =
  /(?:^alias\.|pager|editor|command|hook|fsmonitor|helper|textconv|external|cmd|filter\.|askpass|program|include|driver|proxy|uploadpack|receivepack|\.path$)/i;
const GIT_OPTION =
  /^(?:--exec-path=|--config-env|--upload-pack|--receive-pack|--exec|--extcmd|--open-files-in-pager|--output|--ext-diff|--textconv|-O.|--tree-filter|--index-filter|--msg-filter|--env-filter|--template=)/;

/** Options, keys and subcommands with which git runs something else, or writes where nobody looks. */
function isUnseenGit(rest: readonly string[], unknown: readonly boolean[]): boolean {
  const command = rest.findIndex((word, at) => !word.startsWith("-") && !/^-[cC]$/.test(rest[at - 1] ?? ""));
  if (command !== -1 && unknown[command] === true) return true;
  const isKeyed = rest.some((word, at) => rest[at - 1] === "-c" && (GIT_KEY.test(word) || unknown[at] === true));
  if (isKeyed || rest.some((word) => GIT_OPTION.test(word) || /^-c.+=/.test(word) || word.startsWith("ext::"))) {
    return true;
  }
  const [name = "", ...more] = rest.slice(command === -1 ? rest.length : command);
  switch (name) {
    case "config":
      return more.some((word) => GIT_KEY.test(word)) && more.filter((word) => !word.startsWith("-")).length > 1;
    case "rebase":
    case "difftool":
      return more.some((word) => word.startsWith("-x"));
    case "bisect":
      return more[0] === "run";
    case "submodule":
      return more.includes("foreach");
    default:
      return ["filter-branch", "mergetool", "daemon", "instaweb", "hook", "send-email"].includes(name);
  }
}

function isRunningAwk(word: string): boolean {
  return /system|getline|@load|@include/.test(word) || /(?:^|[^|])\|(?!\|)/.test(word);
}

/** A script longer than this is not looked through. */
const LONGEST_SCRIPT = 1_000;

/** GNU sed runs what stands behind `e`, and what `s///e` has made. */
function isRunningSed(word: string): boolean {
  if (word.length > LONGEST_SCRIPT) return true;
  if (/(?:^|[;{}\n\d$!])\s*e(?:\s|$)/.test(word) || /\/[IM]?\s*e(?:\s|$)/.test(word)) return true;
  const flags = [...word.matchAll(/s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1(\w*)/gs)].map(
    ([, , found]) => found,
  );
  return flags.some((found) => found?.includes("e") === true);
}

function isUnseenMakefile(rest: readonly string[], unknown: readonly boolean[]): boolean {
  return rest.some((word, at) => {
    const isNamed = /^(?:-f|--file|--makefile)$/.test(rest[at - 1] ?? "");
    return isNamed && isUnseenFile(word, unknown[at]);
  });
}
